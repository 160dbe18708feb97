package inspection

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// stateText writes a report of a state: lines, and lines of a table.
type stateText struct {
	strings.Builder
	table *tabwriter.Writer
}

func (h *Head) text() *stateText {
	t := new(stateText)
	fmt.Fprintf(t, "%s: %s\n", h.Path, h.Kind)
	t.table = tabwriter.NewWriter(&t.Builder, 0, 0, 2, ' ', 0)
	return t
}

// row adds a row to the table.
func (t *stateText) row(file, place, format string, args ...any) {
	fmt.Fprintf(t.table, "%s\t%s\t%s\n", file, place, fmt.Sprintf(format, args...))
}

// write ends the text with what is not sound.
func (t *stateText) write(w io.Writer, faults ...string) error {
	if err := t.table.Flush(); err != nil {
		return err
	}
	t.WriteString("\n")
	if len(faults) == 0 {
		t.WriteString("sound\n")
	}
	for _, f := range faults {
		fmt.Fprintf(t, "not sound: %s\n", f)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// faults are those of a file.
func (h *Head) faults() []string {
	if h.Sound {
		return nil
	}
	return []string{h.Error}
}

func at(offset int64) string { return fmt.Sprintf("byte %d", offset) }

// counted is a number with its noun.
func counted[N int | int64 | uint64 | uint32](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// String names all fields.
func (c Coordinate) String() string {
	return fmt.Sprintf("shard %d, byte %d, row group %d, page %d, row %d", c.Shard, c.ByteOffset, c.RowGroup, c.Page, c.Row)
}

func (c LuminamoonCoordinate) String() string {
	return fmt.Sprintf("shard %d, byte %d, row group %d, page %d, row in page %d, global row %d", c.Shard, c.ByteOffset, c.RowGroup, c.Page, c.RowInPage, c.GlobalRow)
}

// commit writes the last commit.
func (t *stateText) commit(c *Commit) {
	if c == nil {
		t.WriteString("no commit can be read\n")
		return
	}
	fmt.Fprintf(t, "generation %d, %s delivered, %s\n%s\n", c.Generation, counted(c.Batch, "batch", "batches"), counted(c.Hashes, "hash", "hashes"), c.Coordinate)
}

func (t *stateText) slots(slots []Slot) {
	for _, s := range slots {
		if s.Commit == nil {
			t.row("tracker", at(s.Offset), "%s", s.Error)
			continue
		}
		counts := ""
		if s.Counts {
			counts = ", counts"
		}
		t.row("tracker", at(s.Offset), "slot %s: generation %d, batch %d, %s%s", s.Slot, s.Generation, s.Batch, counted(s.Hashes, "hash", "hashes"), counts)
	}
}

// frames writes what is in a log; torn says what becomes of its torn tail.
func (t *stateText) frames(f *Frames, torn string) {
	generations := ""
	if f.Frames > 0 {
		generations = fmt.Sprintf(", generations %d to %d", f.FirstGeneration, f.LastGeneration)
	}
	t.row("log", at(0), "%s, %s, %s, %s%s", counted(f.Bytes, "byte", "bytes"), counted(f.Frames, "frame", "frames"),
		counted(f.Hashes, "hash", "hashes"), counted(f.States, "state", "states"), generations)
	for _, d := range f.Damage {
		t.row("log", at(d.Offset), "damaged, %s: %s", counted(d.Length, "byte", "bytes"), d.Error)
	}
	if f.MoreDamage > 0 {
		t.row("log", "", "%s more damaged", counted(f.MoreDamage, "place", "places"))
	}
	if f.FreeBytes > 0 {
		t.row("log", at(f.Bytes-f.FreeBytes), "kept free for appends, %s", counted(f.FreeBytes, "byte", "bytes"))
	}
	if f.Torn != nil {
		t.row("log", at(f.Torn.Offset), "torn, %s%s: %s", counted(f.Torn.Length, "byte", "bytes"), torn, f.Torn.Error)
	}
}

// WriteText implements [Result].
func (r *Tracker) WriteText(w io.Writer) error {
	t := r.text()
	t.commit(r.Commit)
	t.WriteString("\n")
	t.slots(r.Slots)
	return t.write(w, r.faults()...)
}

// WriteText implements [Result].
func (r *Log) WriteText(w io.Writer) error {
	t := r.text()
	t.frames(&r.Frames, "")
	return t.write(w, r.faults()...)
}

// WriteText implements [Result].
func (r *Run) WriteText(w io.Writer) error {
	t := r.text()
	t.commit(r.Commit)
	if r.Ended != nil {
		fmt.Fprintf(t, "epoch %d, ended: %s\n", *r.Epoch, yes(*r.Ended))
	}
	t.WriteString("\n")
	t.slots(r.Slots)
	switch l := r.Log; {
	case l == nil:
		t.row("log", "", "there is none")
	case l.CommittedBytes == nil:
		t.frames(&l.Frames, "")
	default:
		t.frames(&l.Frames, ", cut away when the run goes on")
		if l.UncommittedFrames > 0 {
			t.row("log", at(*l.CommittedBytes), "%s of no commit, cut away when the run goes on", counted(l.UncommittedFrames, "frame", "frames"))
		}
	}
	if r.Known > 0 {
		t.row("known", "", "%s of another program", counted(r.Known, "hash", "hashes"))
	}
	if err := t.table.Flush(); err != nil {
		return err
	}
	t.WriteString("\noptions:\n")
	for _, name := range slices.Sorted(maps.Keys(r.Config)) {
		fmt.Fprintf(t.table, "  %s\t= %s\n", short(name), short(r.Config[name]))
	}
	if err := t.table.Flush(); err != nil {
		return err
	}
	if c := r.Repaired; c != nil && c.Bytes > 0 {
		fmt.Fprintf(t, "\nrepaired: %s cut off the log at byte %d\n", counted(c.Bytes, "byte", "bytes"), c.Offset)
	} else if c != nil {
		t.WriteString("\nnothing to repair\n")
	}
	faults := []string{}
	for _, f := range r.Faults {
		faults = append(faults, f.String())
	}
	return t.write(w, faults...)
}

// WriteText implements [Result].
func (r *Luminamoon) WriteText(w io.Writer) error {
	t := r.text()
	if c := r.LuminamoonCommit; c == nil {
		t.WriteString("no commit can be read\n")
	} else {
		fmt.Fprintf(t, "epoch %d, batch %d, %s in its dedup file\n%s\n", c.Epoch, c.Batch, counted(c.Hashes, "hash", "hashes"), c.Coordinate)
	}
	t.WriteString("\n")
	for _, s := range r.Slots {
		switch {
		case s.LuminamoonCommit == nil:
			t.row("checkpoint", at(s.Offset), "%s", s.Error)
		case s.Counts:
			t.row("checkpoint", at(s.Offset), "slot %s: epoch %d, batch %d, counts", s.Slot, s.Epoch, s.Batch)
		default:
			t.row("checkpoint", at(s.Offset), "slot %s: epoch %d, batch %d", s.Slot, s.Epoch, s.Batch)
		}
	}
	return t.write(w, r.faults()...)
}

// WriteText implements [Result].
func (r *Dedup) WriteText(w io.Writer) error {
	t := r.text()
	if r.Sound {
		fmt.Fprintf(t, "%s of 64 bits; it has no checksum\n", counted(r.Hashes, "hash", "hashes"))
	}
	return t.write(w, r.faults()...)
}
