package stringtensor

import "github.com/apache/arrow-go/v18/arrow"

// dictionaries are the columns of dictionaries that several arrays may share:
// each is made once, however few rows an array has.
type dictionaries struct {
	columns map[dictionaryKey]*Column
	before  map[dictionaryKey]*Column // those not used since turn
}

// dictionaryKey is a dictionary, read as a type of the given fingerprint.
type dictionaryKey struct {
	entries arrow.ArrayData
	typ     string
}

// of returns the column of a dictionary, which build makes unless it is there. It
// stays that of d.
func (d *dictionaries) of(key dictionaryKey, build func() (*Column, error)) (*Column, error) {
	c, ok := d.columns[key]
	if ok {
		return c, nil
	}
	if c, ok = d.before[key]; ok {
		delete(d.before, key)
	} else {
		var err error
		if c, err = build(); err != nil {
			return nil, err
		}
	}
	if d.columns == nil {
		d.columns = make(map[dictionaryKey]*Column)
	}
	d.columns[key] = c
	return c, nil
}

// turn gives up the dictionaries that were not used since the last turn.
func (d *dictionaries) turn() {
	releaseAll(d.before)
	d.before, d.columns = d.columns, nil
}

// release gives up all of them.
func (d *dictionaries) release() {
	releaseAll(d.before)
	releaseAll(d.columns)
	d.before, d.columns = nil, nil
}

func releaseAll(columns map[dictionaryKey]*Column) {
	for _, c := range columns {
		c.Release()
	}
}
