package gpu

// address is a place in the memory of the device; 0 is none.
type address uint64

// kernel is a function of the device.
type kernel int

const (
	wherePrefix kernel = iota
	whereSuffix
	whereEqual
	whereLength
	whereContains
	kernelCount
)

// driver is what the engine asks of a device, all from one thread. Work goes to one stream:
// it is done in order, and for sure only after synchronize. Errors are [ErrOutOfMemory] and
// [ErrDevice].
type driver interface {
	alloc(bytes int64) (address, error)
	free(at address) error

	// pin returns host memory that copies may be to and from, of at least one byte.
	pin(bytes int) ([]byte, error)
	unpin(memory []byte) error

	upload(to address, from []byte) error
	download(to []byte, from address) error
	clear(to address, words int) error
	launch(k kernel, blocks int, parameters ...uint64) error
	synchronize() error

	// close gives everything back but memory.
	close() error
}
