package stringtensor

import (
	"encoding/binary"
	"fmt"
)

// unframedSchema is the length below which what follows the magic of a file cannot be a
// message with a schema.
const unframedSchema = 16

// footerSchema returns the schema of a footer as the metadata of a message. The schema stays
// where it lies in the footer, which a message is put in front of:
//
//	0       6        16      32
//	root ▸│ vtable │ message │ footer … schema …
//	                   └───────────────▸
func footerSchema(footer []byte) ([]byte, error) {
	t, err := flatRoot(footer)
	if err != nil {
		return nil, err
	}
	schema, ok, err := t.table(1)
	if err == nil && !ok {
		err = fmt.Errorf("%w: a footer without a schema", errFlat)
	}
	if err != nil {
		return nil, err
	}
	const vtable, table, header, size = 6, 16, 20, 32
	b := make([]byte, size, size+len(footer))
	binary.LittleEndian.PutUint32(b, table)
	for i, slot := range []uint16{
		10, 12, // bytes of the vtable and of the table
		8, 10, 4, // in the table: version, type of the header, header
	} {
		binary.LittleEndian.PutUint16(b[vtable+2*i:], slot)
	}
	binary.LittleEndian.PutUint32(b[table:], table-vtable)
	binary.LittleEndian.PutUint32(b[header:], uint32(size+schema.pos-header))
	binary.LittleEndian.PutUint16(b[table+8:], 4) // version 5 of the metadata
	b[table+10] = byte(schemaMessage)
	return append(b, footer...), nil
}
