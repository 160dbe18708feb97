package stringtensor

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
)

// NextRecord is Next with all columns, of any type, as Arrow has them. The caller
// releases the batch, which stays valid after Close. Its rows are not checked: array.ValidateFull
// does that, and [FromArrow] for strings. The errors are those of Next.
func (r *IPCReader) NextRecord() (arrow.RecordBatch, error) {
	if r.err != nil {
		return nil, r.err
	}
	rec, err := r.record()
	if err == io.EOF {
		r.err = io.EOF
		return nil, io.EOF
	}
	if err != nil {
		r.fail(fmt.Errorf("read Arrow %s: batch %d: %w", r.kind(), r.batch, err))
		return nil, r.err
	}
	r.batch++
	return rec, nil
}

func (r *IPCReader) record() (rec arrow.RecordBatch, err error) {
	defer recovered(&err)
	r.msgs.alloc.begin()
	if !r.rd.Next() {
		if err := r.cause(r.rd.Err()); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	rec = r.rd.RecordBatch()
	if rec.NumRows() > r.cfg.maxMessage/ViewSize {
		// Rows of some types take no bytes in the message.
		return nil, fmt.Errorf("%w: %d rows", ErrMessageTooLarge, rec.NumRows())
	}
	rec.Retain()
	return rec, nil
}
