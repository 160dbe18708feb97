package stringtensor

import "slices"

// Editor makes a column out of the rows of another: each is kept, cut, written anew or,
// where none of that is said, left out. Rows kept and cut share the payload of the column.
// What is cut out of a sound row is sound, so that nothing has to be checked again, as
// [FromViews] has to; that a cut does not go through a character is the caller's affair.
type Editor struct {
	from *Column
	same int // until edited: the rows kept, which are the first of from
	// to has the rows since, those before them included.
	to     Builder
	edited bool
}

// NewEditor returns an editor of the rows of c, which must not be released before
// [Editor.Finish].
func NewEditor(c *Column) *Editor { return &Editor{from: c} }

// Keep appends row i as it is; a null row is null. It panics when i is out of range, as
// Cut does.
func (e *Editor) Keep(i int) {
	if !e.edited && i == e.same && i < len(e.from.views) {
		e.same++
		return
	}
	e.append(i)
}

// KeepRows appends rows lo to hi, hi not included, as Keep does one by one.
func (e *Editor) KeepRows(lo, hi int) {
	if !e.edited && lo == e.same && lo <= hi && hi <= len(e.from.views) {
		e.same = hi
		return
	}
	for i := lo; i < hi; i++ {
		e.append(i)
	}
}

func (e *Editor) append(i int) {
	e.begin()
	if e.from.IsNull(i) {
		e.to.AppendNull()
	} else {
		e.to.appendView(e.from.views[i])
	}
}

// begin gives the rows memory of their own: they are no longer the first of the column.
func (e *Editor) begin() {
	if e.edited {
		return
	}
	e.edited = true
	e.to.Reserve(len(e.from.views), 0)
	e.to.buffers = slices.Clip(e.from.buffers)
	for i := range e.same {
		e.append(i)
	}
}

// Cut appends bytes lo to hi of row i, hi not included. It panics when they are not in
// the row, as slicing it does.
func (e *Editor) Cut(i, lo, hi int) {
	v := &e.from.views[i]
	n := v.Len()
	if lo == 0 && hi == n {
		e.Keep(i)
		return
	}
	e.begin()
	if hi-lo <= MaxInline {
		cut, _ := InlineView(e.from.Bytes(i)[lo:hi])
		e.to.appendView(cut)
		return
	}
	o := v.Offset()
	s := e.from.data[v.Buffer()][o : o+n : o+n][lo:hi]
	e.to.appendView(pooledView(s, v.Buffer(), o+lo))
}

// Part is bytes From to To of a row, To not included.
type Part struct{ From, To int32 }

// CutRows appends a part of each of the rows from i on, as Cut does one by one.
func (e *Editor) CutRows(i int, parts []Part) {
	e.begin()
	// As many as can be in a loop of its own: long ones, which are not null.
	rows := e.from.views[i : i+len(parts)]
	if e.to.valid.present() {
		rows = nil
	}
	views, done := e.to.views, 0
	buffer, data := -1, []byte(nil)
	for k, v := range rows {
		lo, hi := int(parts[k].From), int(parts[k].To)
		if hi-lo <= MaxInline {
			break
		}
		if b := v.Buffer(); b != buffer {
			buffer, data = b, e.from.data[b]
		}
		o, n := v.Offset(), v.Len()
		views = append(views, pooledView(data[o : o+n : o+n][lo:hi], buffer, o+lo))
		done++
	}
	e.to.views = views
	for k, p := range parts[done:] {
		e.Cut(i+done+k, int(p.From), int(p.To))
	}
}

// Room returns n bytes to write a row to, as [Builder.Room] does.
func (e *Editor) Room(n int) ([]byte, error) {
	e.begin()
	return e.to.Room(n)
}

// AppendRoom appends a row of the first n bytes of the last [Editor.Room], as
// [Builder.AppendRoom] does.
func (e *Editor) AppendRoom(n int) { e.to.AppendRoom(n) }

// Finish returns the column of the rows so far, with claims of its own on borrowed
// memory. The editor must not be used any more.
func (e *Editor) Finish() *Column {
	if e.edited {
		return e.to.Finish()
	}
	valid, nulls := e.from.valid, 0
	if valid.present() {
		nulls = e.same - valid.ones(e.same)
	}
	return e.from.derive(e.from.views[:e.same:e.same], valid, nulls)
}
