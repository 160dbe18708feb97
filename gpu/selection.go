package gpu

import (
	"errors"
	"fmt"

	"github.com/rosaline-go/rosaline/stringtensor"
)

// Selection is a set of rows in the memory of a device, one bit a row. It takes that memory,
// an eighth of a byte a row, until Release.
type Selection struct {
	engine *Engine
	rows   int

	// Only the goroutine of the engine touches these.
	mask     address // 0 when no row is selected
	released bool
}

// Len returns the number of rows that the column has, selected or not.
func (s *Selection) Len() int { return s.rows }

// Fetch copies the selection to the host, rows ascending. O(Len). The errors are
// [ErrOutOfMemory], [ErrDevice], [ErrReleased] and [ErrClosed].
func (s *Selection) Fetch() (stringtensor.Selection, error) {
	end, err := s.engine.use()
	if err != nil {
		return nil, err
	}
	defer end()
	var bits []byte
	err = s.engine.do(func() error {
		if s.released {
			return fmt.Errorf("%w: a selection", ErrReleased)
		}
		if s.mask == 0 {
			return nil
		}
		use := scratch{engine: s.engine}
		words, err := use.pin(4 * maskWords(s.rows))
		if err == nil {
			err = s.engine.driver.download(words, s.mask)
		}
		if err == nil {
			err = s.engine.synchronize()
		}
		if err == nil {
			bits = append([]byte(nil), words...)
		}
		return errors.Join(err, use.end())
	})
	if err != nil || bits == nil {
		return nil, err
	}
	// Every host of CUDA is little endian, so bit i of the words is bit i of the bytes.
	return stringtensor.SelectBits(bits, s.rows), nil
}

// Release frees the memory of the selection. A second call, and one after the engine was
// closed, does nothing. The error is [ErrDevice].
func (s *Selection) Release() error {
	end, err := s.engine.use()
	if err != nil {
		return nil // Close has freed it
	}
	defer end()
	return s.engine.do(func() error {
		if s.released {
			return nil
		}
		s.released = true
		return s.engine.free(s.mask)
	})
}
