package fsys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Disk is a disk in memory that keeps what was synced and what was not apart, so that it can
// tell what may be left of it after a crash: [Disk.Crash]. Operations can be made to fail:
// [Disk.FailAt], [Disk.SetCapacity], [Disk.CrashAfter]. It is safe for concurrent use.
//
// Its root is both "/" and ".". A file has at most 1 GiB; a block of 512 bytes that was
// written takes some 530 bytes of memory, and as many once more for each time that it was
// written since it was synced.
type Disk struct {
	mu       sync.Mutex
	root     *directory
	locks    map[string]string // the holder of each lock
	model    Model
	capacity int64 // in bytes, < 0 for no bound

	faults []fault
	counts [OpAny + 1]int
	last   int // operation, < 0 for none
	down   bool
}

// NewDisk makes an empty disk.
func NewDisk() *Disk {
	return &Disk{root: newDirectory(), locks: map[string]string{}, capacity: -1, last: -1}
}

// maxFile is how many bytes a file of a [Disk] may have.
const maxFile = 1 << 30

// node is a [directory] or an [inode].
type node interface {
	crash(*crash) node
	clone(done map[node]node) node
}

// directory keeps the names as programs see them, those that are on the disk, and what was
// done in between.
type directory struct {
	names   map[string]node
	synced  map[string]node
	journal []change
}

func newDirectory() *directory {
	return &directory{names: map[string]node{}, synced: map[string]node{}}
}

// change is one operation on names: a node got the name to, if there is one, and lost the name
// from, if it had one.
type change struct {
	from, to string
	node     node
}

func (c change) apply(names map[string]node) {
	delete(names, c.from)
	if c.to != "" {
		names[c.to] = c.node
	}
}

func (d *directory) do(c change) {
	c.apply(d.names)
	d.journal = append(d.journal, c)
}

func (d *directory) sync() {
	for _, c := range d.journal {
		c.apply(d.synced)
	}
	d.journal = nil
}

// split returns the parts of a path.
func split(name string) ([]string, error) {
	if name == "" {
		return nil, fs.ErrNotExist
	}
	p := filepath.Clean(name)
	p = strings.Trim(filepath.ToSlash(p[len(filepath.VolumeName(p)):]), "/")
	if p == "." || p == "" {
		return nil, nil
	}
	parts := strings.Split(p, "/")
	if parts[0] == ".." {
		return nil, fs.ErrInvalid
	}
	return parts, nil
}

// directory finds a directory by its parts.
func (d *Disk) directory(parts []string) (*directory, error) {
	dir := d.root
	for _, part := range parts {
		switch n := dir.names[part].(type) {
		case *directory:
			dir = n
		case *inode:
			return nil, syscall.ENOTDIR
		default:
			return nil, fs.ErrNotExist
		}
	}
	return dir, nil
}

// parent finds the directory that a name is in, and the last part of the name, which is empty
// for the root.
func (d *Disk) parent(name string) (*directory, string, error) {
	parts, err := split(name)
	if err != nil || len(parts) == 0 {
		return d.root, "", err
	}
	last := len(parts) - 1
	dir, err := d.directory(parts[:last])
	return dir, parts[last], err
}

// open opens a file for [Disk.Open], [Disk.OpenWrite] and [Disk.Create].
func (d *Disk) open(op Op, name string, write, make bool) (File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin(op); err != nil {
		return nil, failed(op.String(), name, err)
	}
	dir, base, err := d.parent(name)
	if err != nil {
		return nil, failed(op.String(), name, err)
	}
	n, isFile := dir.names[base].(*inode)
	_, isDir := dir.names[base].(*directory)
	switch {
	case base == "", isDir && op != OpCreate:
		err = syscall.EISDIR
	case op == OpCreate && (isFile || isDir):
		err = fs.ErrExist
	case !isFile && !make:
		err = fs.ErrNotExist
	case !isFile:
		n = newInode()
		dir.do(change{to: base, node: n})
	}
	if err != nil {
		return nil, failed(op.String(), name, err)
	}
	return &handle{disk: d, node: n, name: name, write: write}, nil
}

// Open opens a file for reading.
func (d *Disk) Open(name string) (File, error) { return d.open(OpOpen, name, false, false) }

// OpenWrite opens a file for reading and writing, and makes it if there is none.
func (d *Disk) OpenWrite(name string) (File, error) { return d.open(OpOpen, name, true, true) }

// Create makes a file that there is not yet.
func (d *Disk) Create(name string) (File, error) { return d.open(OpCreate, name, true, true) }

// Rename gives a file another name of the same directory.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.begin(OpRename)
	if err == nil {
		err = d.rename(from, to)
	}
	if err != nil {
		return failed("rename", from, fmt.Errorf("to %s: %w", to, err))
	}
	return nil
}

func (d *Disk) rename(from, to string) error {
	if filepath.Dir(from) != filepath.Dir(to) {
		return fs.ErrInvalid
	}
	dir, old, err := d.parent(from)
	if err != nil {
		return err
	}
	_, base, err := d.parent(to)
	if err != nil {
		return err
	}
	n := dir.names[old]
	there := dir.names[base]
	_, overDir := there.(*directory)
	_, isDir := n.(*directory)
	switch {
	case n == nil:
		return fs.ErrNotExist
	case base == "":
		return fs.ErrInvalid
	case n == there:
		return nil
	case overDir:
		return syscall.EEXIST
	case isDir && there != nil:
		return syscall.ENOTDIR
	}
	dir.do(change{from: old, to: base, node: n})
	return nil
}

// Remove takes a name away. A file that is open can be read and written further.
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin(OpRemove); err != nil {
		return failed("remove", name, err)
	}
	dir, base, err := d.parent(name)
	if err == nil {
		switch n := dir.names[base].(type) {
		case nil:
			err = fs.ErrNotExist
		case *directory:
			if len(n.names) > 0 {
				err = syscall.ENOTEMPTY
			}
		}
	}
	if err != nil {
		return failed("remove", name, err)
	}
	dir.do(change{from: base})
	return nil
}

// MakeDir makes a directory and those above it.
func (d *Disk) MakeDir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.begin(OpMakeDir)
	var parts []string
	if err == nil {
		parts, err = split(name)
	}
	dir := d.root
	for _, part := range parts {
		n := dir.names[part]
		if n == nil {
			n = newDirectory()
			dir.do(change{to: part, node: n})
		}
		next, ok := n.(*directory)
		if !ok {
			err = syscall.ENOTDIR
			break
		}
		dir = next
	}
	if err != nil {
		return failed("mkdir", name, err)
	}
	return nil
}

// List returns the names in a directory, in order of their bytes.
func (d *Disk) List(name string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, err := d.begun(OpRead, name)
	if err != nil {
		return nil, failed("list", name, err)
	}
	return slices.Sorted(maps.Keys(dir.names)), nil
}

// SyncDir makes what was done to the names in a directory last. After a failure that was asked
// for nothing of it did, and a later one does.
func (d *Disk) SyncDir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, err := d.begun(OpSyncDir, name)
	if err != nil {
		return failed("syncdir", name, err)
	}
	dir.sync()
	return nil
}

// begun begins an operation on a directory, which it finds.
func (d *Disk) begun(op Op, name string) (*directory, error) {
	if err := d.begin(op); err != nil {
		return nil, err
	}
	parts, err := split(name)
	if err != nil {
		return nil, err
	}
	return d.directory(parts)
}

// Lock takes the lock of a name. Its file is on the disk at once, which is one of the things
// that may happen, so that the others do not multiply what a crash may leave.
func (d *Disk) Lock(name, holder string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin(OpLock); err != nil {
		return nil, failed("lock", name, err)
	}
	dir, base, err := d.parent(name)
	if err != nil {
		return nil, failed("lock", name, err)
	}
	if _, isDir := dir.names[base].(*directory); isDir || base == "" {
		return nil, failed("lock", name, syscall.EISDIR)
	}
	parts, _ := split(name)
	key := strings.Join(parts, "/")
	if by, taken := d.locks[key]; taken {
		return nil, failed("lock", name, locked(by))
	}
	n, ok := dir.names[base].(*inode)
	if !ok {
		n = newInode()
		dir.names[base], dir.synced[base] = n, n
	}
	n.truncate(0)
	n.writeAt([]byte(holder), 0)
	n.sync()
	d.locks[key] = holder
	return &lockHandle{d, key}, nil
}

// lockHandle is a lock of a [Disk] until it is closed.
type lockHandle struct {
	disk *Disk
	key  string
}

func (l *lockHandle) Close() error {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	if l.key == "" {
		return failed("close", l.key, fs.ErrClosed)
	}
	delete(l.disk.locks, l.key)
	l.key = ""
	return nil
}

// handle is an open file of a [Disk].
type handle struct {
	disk   *Disk
	node   *inode
	name   string
	write  bool
	closed bool
}

// begin begins an operation on an open file.
func (h *handle) begin(op Op) error {
	switch {
	case h.closed:
		return fs.ErrClosed
	case !h.write && (op == OpWrite || op == OpAppend || op == OpTruncate):
		return fs.ErrPermission
	}
	return h.disk.begin(op)
}

// ReadAt reads what was written, whether it was synced or not.
func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	err := h.begin(OpRead)
	if err == nil && off < 0 {
		err = fs.ErrInvalid
	}
	if err != nil {
		return 0, failed("read", h.name, err)
	}
	n := h.node.readAt(p, off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt writes at a place.
func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	return h.put(OpWrite, p, off)
}

// Append writes behind the end.
func (h *handle) Append(p []byte) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	return h.put(OpAppend, p, h.node.size)
}

// put writes as much as there is room for, or half when a short write was asked for.
func (h *handle) put(op Op, p []byte, off int64) (int, error) {
	err := h.begin(op)
	n := 0
	switch {
	case off < 0:
		err = fs.ErrInvalid
	case errors.Is(err, io.ErrShortWrite):
		n = len(p) / 2
	case err != nil:
	case int64(len(p)) > maxFile-off:
		err = syscall.EFBIG
	default:
		if n = h.disk.room(h.node, len(p), off); n < len(p) {
			err = syscall.ENOSPC
		}
	}
	h.node.writeAt(p[:n], off)
	if err != nil {
		return n, failed(op.String(), h.name, err)
	}
	return n, nil
}

func (h *handle) Size() (int64, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if err := h.begin(OpRead); err != nil {
		return 0, failed("size", h.name, err)
	}
	return h.node.size, nil
}

// Truncate cuts a file, or lengthens it by a hole.
func (h *handle) Truncate(size int64) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	err := h.begin(OpTruncate)
	switch {
	case err != nil:
	case size < 0:
		err = fs.ErrInvalid
	case size > maxFile:
		err = syscall.EFBIG
	}
	if err != nil {
		return failed("truncate", h.name, err)
	}
	h.node.truncate(size)
	return nil
}

// Sync makes what was written last. One that was made to fail does as Linux does: what was not
// synced before counts as written from then on, so that a later Sync without a failure does
// not write it, while on the disk there may be any of what could be there after a crash.
// [Disk.Crash] and [Disk.Evict] choose. A block that is written once more is synced anew.
func (h *handle) Sync() error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.closed {
		return failed("sync", h.name, fs.ErrClosed)
	}
	if err := h.begin(OpSync); err != nil {
		if !errors.Is(err, ErrCrashed) {
			h.node.forget()
		}
		return failed("sync", h.name, err)
	}
	h.node.sync()
	return nil
}

func (h *handle) Close() error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.closed {
		return failed("close", h.name, fs.ErrClosed)
	}
	h.closed = true
	return nil
}
