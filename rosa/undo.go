package rosa

import "slices"

// undo is what it takes to take the last symbols of a tree back, newest first. The changes
// of a symbol are undone in reverse.
type undo struct {
	keep    int        // symbols that can be taken back at least, if there were so many
	points  []undoable // before each of the last symbols
	changes []change
	dropped int // changes that were forgotten
	runs    []run
	lost    int // runs that were forgotten
}

// undoable is a tree before a symbol came.
type undoable struct {
	at, below, length, start int32
	names                    int32 // tokens that had a code
	changes                  int   // how many there were, those forgotten included
}

// change is a leaf that was added to a node, or a node that was put on an edge with one.
type change struct {
	node    int32
	code    uint32 // of the leaf
	split   bool
	climbed bool // and not by the link-cut tree
	runs    int  // how many there were before it, those forgotten included
}

// run says what was the newest leaf below a node and its ancestors, up to the next run.
type run struct{ node, latest int32 }

// begin notes a tree before a symbol, and forgets what is too old by far.
func (u *undo) begin(at, below, length, start int32, names int) {
	if len(u.points) >= 2*u.keep+16 {
		old := len(u.points) - u.keep
		u.points = append(u.points[:0], u.points[old:]...)
		first := u.points[0].changes - u.dropped
		if first < len(u.changes) {
			n := u.changes[first].runs - u.lost
			u.runs = append(u.runs[:0], u.runs[n:]...)
			u.lost += n
		} else {
			u.lost += len(u.runs)
			u.runs = u.runs[:0]
		}
		u.changes = append(u.changes[:0], u.changes[first:]...)
		u.dropped += first
	}
	u.points = append(u.points, undoable{at, below, length, start, int32(names), u.dropped + len(u.changes)})
}

// leaf notes that a leaf is being added to a node.
func (u *undo) leaf(node int32, code uint32, split, climbed bool) {
	if u != nil {
		u.changes = append(u.changes, change{node, code, split, climbed, u.lost + len(u.runs)})
	}
}

// path notes the newest leaf below a node and its ancestors, deepest first.
func (u *undo) path(node, latest int32) {
	u.runs = append(u.runs, run{node, latest})
}

func (u *undo) reset() {
	if u != nil {
		*u = undo{keep: u.keep, points: u.points[:0], changes: u.changes[:0], runs: u.runs[:0]}
	}
}

func (u *undo) clone() *undo {
	if u == nil {
		return nil
	}
	c := *u
	c.points, c.changes, c.runs = slices.Clone(u.points), slices.Clone(u.changes), slices.Clone(u.runs)
	return &c
}

func (u *undo) bytes() int {
	if u == nil {
		return 0
	}
	return 32*cap(u.points) + 24*cap(u.changes) + 8*cap(u.runs)
}

// takeBack takes the last symbol of the tree back and returns how many tokens had a code
// before it. There is a point.
func (t *tree[S]) takeBack() (names int) {
	u := t.undo
	p := u.points[len(u.points)-1]
	u.points = u.points[:len(u.points)-1]
	t.text = t.text[:len(t.text)-1]
	for len(u.changes) > p.changes-u.dropped {
		c := u.changes[len(u.changes)-1]
		u.changes = u.changes[:len(u.changes)-1]
		runs := u.runs[c.runs-u.lost:]
		u.runs = u.runs[:c.runs-u.lost]
		t.untouch(runs, c.climbed)
		t.leaves--
		if c.split {
			t.unsplit(c.node, S(c.code))
		} else {
			t.removeChild(c.node, S(c.code))
		}
	}
	t.at, t.below, t.length, t.start = p.at, p.below, p.length, p.start
	return int(p.names)
}

// untouch gives nodes the newest leaves back that touch took them.
func (t *tree[S]) untouch(runs []run, climbed bool) {
	if climbed {
		for i, r := range runs {
			end := int32(0)
			if i+1 < len(runs) {
				end = runs[i+1].node
			}
			for v := r.node; v != end; v = t.nodes.at(v).parent {
				t.nodes.at(v).latest = r.latest
			}
		}
	}
	if t.paths.used() {
		// Each says it to all ancestors, of whom the next one knows better.
		for _, r := range runs {
			t.paths.assign(r.node, r.latest, nil)
		}
	}
}

// unsplit takes the last node off the edge it is on, and the leaf by symbol c that came
// with it.
func (t *tree[S]) unsplit(m int32, c S) {
	parent, below := t.nodes.at(m).parent, t.otherChild(m, c)
	*t.child(parent, t.nodes.at(parent), t.text[t.label(below)+t.nodes.at(parent).depth]) = below
	t.setParent(below, parent)
	if t.paths.used() {
		t.paths.remove(m, parent, below)
		t.paths = t.paths[:m]
	}
	t.nodes.truncate(m)
}
