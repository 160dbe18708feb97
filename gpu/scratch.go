package gpu

import "errors"

// scratch is the memory that an operation needs while it runs.
type scratch struct {
	engine  *Engine
	regions []address
	pinned  [][]byte
}

func (s *scratch) alloc(bytes int64) (address, error) {
	at, err := s.engine.alloc(bytes)
	if err == nil {
		s.regions = append(s.regions, at)
	}
	return at, err
}

func (s *scratch) pin(bytes int) ([]byte, error) {
	m, err := s.engine.pin(bytes)
	if err == nil {
		s.pinned = append(s.pinned, m)
	}
	return m, err
}

// keep takes a region out: it is to outlive the operation.
func (s *scratch) keep(at address) {
	for i, r := range s.regions {
		if r == at {
			s.regions = append(s.regions[:i], s.regions[i+1:]...)
			return
		}
	}
}

// upload puts text on the device.
func (s *scratch) upload(text string) (address, error) {
	m, err := s.pin(len(text))
	if err != nil {
		return 0, err
	}
	copy(m, text)
	at, err := s.alloc(int64(len(m)))
	if err != nil {
		return 0, err
	}
	return at, s.engine.driver.upload(at, m)
}

// end waits for the stream and frees the memory. When the wait fails it all stays until the
// engine is closed.
func (s *scratch) end() error {
	if err := s.engine.synchronize(); err != nil {
		return err
	}
	var errs []error
	for _, at := range s.regions {
		errs = append(errs, s.engine.free(at))
	}
	for _, m := range s.pinned {
		errs = append(errs, s.engine.unpin(m))
	}
	s.regions, s.pinned = nil, nil
	return errors.Join(errs...)
}
