package resume

import (
	"errors"
	"fmt"
	"io"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// LogReport is what is in the file of a log.
type LogReport struct {
	Size   int64 // bytes
	Frames int   // that are sound
	Hashes uint64
	States int    // frames with a state
	First  uint64 // generation of the first frame, 0 if there is none
	Last   uint64
	// Damage is the places that are not sound, in order, at most 100 of them. What a crash
	// left at the end is in Torn.
	Damage []Damage
	More   int // damaged places beyond those
	// Torn is the last one, if nothing sound is behind it. What lies from there on was either
	// never committed, or the log is damaged: only the tracker tells.
	Torn *Damage
	// Free is how many bytes at the end are zeros, which a log keeps for appends while it is
	// open and a crash leaves.
	Free int64
}

// Damage is a place in a file that is not sound.
type Damage struct {
	Offset int64 // bytes
	Length int64 // up to what is sound again, or to the end
	Err    error
}

// Sound tells whether nothing is wrong, a torn tail included.
func (r LogReport) Sound() bool { return len(r.Damage) == 0 && r.Torn == nil }

// maxDamage is how many damaged places a report lists.
const maxDamage = 100

func (r *LogReport) damage(d Damage) {
	if len(r.Damage) == maxDamage {
		r.More++
		return
	}
	r.Damage = append(r.Damage, d)
}

// tail takes what is not sound at the end: room that was kept free, or else torn.
func (r *LogReport) tail(from io.ReaderAt, d *Damage) error {
	r.Free, r.Torn = 0, nil
	if d == nil {
		return nil
	}
	free, err := isFree(from, d.Offset, d.Offset+d.Length)
	if free {
		r.Free = d.Length
	} else {
		r.Torn = d
	}
	return err
}

// InspectLog reports what is in a log, without a change. It reads on behind what is damaged,
// at the next sound header of a frame. It takes time of the size of the file and memory of the
// largest frame. What is wrong with the log is in the report; the error is that of the file, or
// [ErrForeign] or [ErrVersion] if it is not for this program.
func InspectLog(name string, opts ...Option) (LogReport, error) {
	f, err := configure(opts).fs.Open(name)
	if err != nil {
		return LogReport{}, fmt.Errorf("resume: log %s: %w", name, err)
	}
	r, err := inspect(f)
	if err = errors.Join(err, f.Close()); err != nil {
		err = fmt.Errorf("resume: log %s: %w", name, err)
	}
	return r, err
}

func inspect(f fsys.File) (LogReport, error) {
	var r LogReport
	head, size, err := readLogHeader(f)
	if err != nil {
		return r, err
	}
	r.Size = size
	switch err := checkLogHeader(head); {
	case errors.Is(err, ErrForeign), errors.Is(err, ErrVersion) && logSumHolds(head):
		return r, err
	case err != nil:
		r.damage(Damage{0, int64(len(head)), err})
	}
	in := newFrameReader(f, r.Size)
	hashes, known := uint64(0), true // known: no frame before was lost
	for {
		var fr frame
		err := in.next(&fr)
		var bad *badFrame
		switch {
		case err == io.EOF:
			return r, nil
		case errors.As(err, &bad):
			if bad.newer {
				return r, bad
			}
			// A length that is known may be trusted, its header is sound.
			to := bad.offset + bad.length
			if bad.length == 0 {
				behind, err := nextHeader(f, bad.offset+1, r.Size)
				if err != nil {
					return r, err
				}
				to = behind.offset
			}
			d := Damage{bad.offset, to - bad.offset, bad}
			if to == r.Size {
				return r, r.tail(f, &d)
			}
			r.damage(d)
			known = false
			in.seek(to)
			continue
		case err != nil:
			return r, err
		}
		if known {
			if err := fr.follows(r.Last, hashes); err != nil {
				r.damage(Damage{fr.offset, fr.length, err})
			}
		}
		known, hashes = true, fr.before+uint64(len(fr.hashes))
		if r.Frames == 0 {
			r.First = fr.generation
		}
		r.Last = fr.generation
		r.Frames++
		r.Hashes += uint64(len(fr.hashes))
		if len(fr.state) > 0 {
			r.States++
		}
	}
}

// isFree tells whether all bytes of a file from one to another are zeros.
func isFree(from io.ReaderAt, offset, end int64) (bool, error) {
	buf := make([]byte, 1<<16)
	for ; offset < end; offset += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), end-offset)]
		if err := readFull(from, buf, offset); err != nil {
			return false, err
		}
		for _, b := range buf {
			if b != 0 {
				return false, nil
			}
		}
	}
	return true, nil
}
