package source

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/rosaline-go/rosaline/cpu"
)

// textColumn gathers the cells of a column of texts.
type textColumn struct {
	wanted  bool
	checked bool    // for UTF-8, by others
	offsets []int32 // begins with 0
	payload []byte
	nulls   []int // their rows
}

// append adds a cell and returns how many bytes in it were not UTF-8.
func (c *textColumn) append(content []byte, quoted bool) (replaced int64) {
	from := len(c.payload)
	switch {
	case quoted:
		c.payload = appendCSVField(c.payload, content)
	default:
		c.payload = append(c.payload, content...)
	}
	if cell := c.payload[from:]; !c.checked && !cpu.ValidUTF8(cell) {
		n, _ := invalidBytes(cell)
		replaced = int64(n)
		c.payload = appendValid(c.payload[:from], bytes.Clone(cell))
	}
	c.offsets = append(c.offsets, int32(len(c.payload)))
	return replaced
}

// null adds a cell that is null.
func (c *textColumn) null() {
	c.nulls = append(c.nulls, len(c.offsets)-1)
	c.offsets = append(c.offsets, int32(len(c.payload)))
}

// undo takes cells beyond those of so many rows out, none of which may be null.
func (c *textColumn) undo(rows int) {
	if c.wanted && len(c.offsets) > rows+1 {
		c.offsets = c.offsets[:rows+1]
		c.payload = c.payload[:c.offsets[rows]]
	}
}

func (c *textColumn) finish() arrow.Array {
	var valid *memory.Buffer
	if len(c.nulls) > 0 {
		bits := bytes.Repeat([]byte{0xff}, (len(c.offsets)+6)/8)
		for _, row := range c.nulls {
			bits[row/8] &^= 1 << (row % 8)
		}
		valid = memory.NewBufferBytes(bits)
	}
	buffers := []*memory.Buffer{valid, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(c.offsets)), memory.NewBufferBytes(c.payload)}
	data := array.NewData(arrow.BinaryTypes.String, len(c.offsets)-1, buffers, nil, len(c.nulls), 0)
	defer data.Release()
	return array.MakeFromData(data)
}
