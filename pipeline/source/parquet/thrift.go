package parquet

import "math"

// pageHeader is what a page of a column says of itself.
type pageHeader struct {
	kind             int64 // 0 data, 2 dictionary, 3 data of version 2
	size, compressed int64 // bytes of what follows
	values           int64
	encoding         int64
	levels           int64 // bytes before the values; version 2
	packed           bool  // values are compressed, if the column is
}

// The numbers of parquet.thrift that matter here.
const (
	dataPage, dictionaryPage, dataPageV2        = 0, 2, 3
	plainDictionary, rleDictionary, prefixDelta = 2, 8, 7
)

// parsePageHeader parses the header that b begins with, and returns its length. It is 0 if b
// has not all of it, or no header.
func parsePageHeader(b []byte) (h pageHeader, length int) {
	p := thriftScanner{rest: b}
	h.packed = true
	p.structure(func(id, typ int) {
		switch id {
		case 1:
			h.kind = p.number(typ)
		case 2:
			h.size = p.number(typ)
		case 3:
			h.compressed = p.number(typ)
		case 5, 7, 8: // of data, dictionaries, data of version 2
			p.structure(func(field, typ int) {
				switch {
				case field == 1:
					h.values = p.number(typ)
				case field == 2 && id != 8, field == 4 && id == 8:
					h.encoding = p.number(typ)
				case (field == 5 || field == 6) && id == 8:
					h.levels += p.number(typ)
				case field == 7 && id == 8:
					h.packed = typ == thriftTrue
				default:
					p.skip(typ, 0)
				}
			})
		default:
			p.skip(typ, 0)
		}
	})
	for _, n := range [...]int64{h.size, h.compressed, h.values, h.levels} {
		p.failed = p.failed || n < 0 || n > math.MaxInt32
	}
	if p.failed || h.levels > min(h.size, h.compressed) {
		return pageHeader{}, 0
	}
	return h, len(b) - len(p.rest)
}

// The types of the compact protocol of Thrift that are told apart here.
const (
	thriftTrue, thriftFalse, thriftByte, thriftDouble            = 1, 2, 3, 7
	thriftBinary, thriftList, thriftSet, thriftMap, thriftStruct = 8, 9, 10, 11, 12
)

// maxThriftDepth is how deep a value may be nested.
const maxThriftDepth = 16

// thriftScanner takes values of the compact protocol off what is left. Once it failed it gives
// zeros.
type thriftScanner struct {
	rest   []byte
	failed bool
}

func (p *thriftScanner) byte() byte {
	if len(p.rest) == 0 {
		p.failed = true
		return 0
	}
	b := p.rest[0]
	p.rest = p.rest[1:]
	return b
}

func (p *thriftScanner) varint() (v uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := p.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	p.failed = true
	return 0
}

// number takes a whole number of any width. What is none fails.
func (p *thriftScanner) number(typ int) int64 {
	if typ <= thriftByte || typ >= thriftDouble {
		p.failed = true
		return 0
	}
	v := p.varint()
	return int64(v>>1) ^ -int64(v&1)
}

// structure calls field with each field of a struct, which must take its value.
func (p *thriftScanner) structure(field func(id, typ int)) {
	for id := 0; !p.failed; {
		b := p.byte()
		if b == 0 {
			return
		}
		if delta := int(b >> 4); delta != 0 {
			id += delta
		} else {
			v := p.varint()
			id = int(int16(v>>1) ^ -int16(v&1))
		}
		field(id, int(b&0xf))
	}
}

// drop takes n bytes.
func (p *thriftScanner) drop(n uint64) {
	if n > uint64(len(p.rest)) {
		p.failed = true
		return
	}
	p.rest = p.rest[n:]
}

// skip takes a value of any type.
func (p *thriftScanner) skip(typ, depth int) {
	if depth > maxThriftDepth {
		p.failed = true
	}
	if p.failed {
		return
	}
	switch typ {
	case thriftTrue, thriftFalse: // the value is the type
	case thriftByte:
		p.byte()
	case thriftDouble:
		p.drop(8)
	case thriftBinary:
		p.drop(p.varint())
	case thriftList, thriftSet:
		b := p.byte()
		n := uint64(b >> 4)
		if n == 15 {
			n = p.varint()
		}
		for ; n > 0 && !p.failed; n-- {
			p.element(int(b&0xf), depth)
		}
	case thriftMap:
		n := p.varint()
		if n == 0 {
			return
		}
		for types := p.byte(); n > 0 && !p.failed; n-- {
			p.element(int(types>>4), depth)
			p.element(int(types&0xf), depth)
		}
	case thriftStruct:
		p.structure(func(_, typ int) { p.skip(typ, depth+1) })
	default:
		p.number(typ)
	}
}

// element takes a value in a list or map, where truth values are bytes.
func (p *thriftScanner) element(typ, depth int) {
	if typ == thriftTrue || typ == thriftFalse {
		typ = thriftByte
	}
	p.skip(typ, depth+1)
}
