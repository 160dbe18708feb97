package pipeline

// station is a goroutine that runs stages in order, between two queues.
type station struct {
	run     *run
	worker  *worker
	source  *worker  // of the source, if this is its station
	in      *queue   // nil for the source's
	replay  replayer // asks in for its input, or nil
	serials []serial
	out     *queue
}

// pass sends a chunk through the stages and on; false tells that the stream ends
// here.
func (s *station) pass(c carrier) bool {
	for _, op := range s.serials {
		c = op.feed(s.worker, c)
		if h := c.header(); len(h.meta) == 0 && !h.control() {
			break // of the rest of an epoch that was ended early nothing may be marked
		}
	}
	h := c.header()
	over := h.eof || h.err != nil
	return s.out.put(c) && !over
}

// loop passes on what comes in.
func (s *station) loop() {
	defer s.in.endBefore()
	for {
		var c carrier
		if s.replay != nil {
			c = s.replay.next(s.worker)
		} else {
			c = s.in.take(nil, nil)
		}
		if c == nil || !s.pass(c) {
			return
		}
	}
}
