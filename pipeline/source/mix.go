package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/rosaline-go/rosaline/pipeline"
)

// Exhaustion says what a [Mix] does when one of its sources has no more elements.
type Exhaustion uint8

const (
	// StopAll goes on with the others, by their weights, until all have ended: every
	// element is given once.
	StopAll Exhaustion = iota
	// StopFirst ends the mix, so that the shares of the sources hold to the end.
	StopFirst
	// RepeatUntilAll begins the source again, until every one has ended once.
	RepeatUntilAll
	exhaustionCount
)

func (e Exhaustion) String() string {
	if e < exhaustionCount {
		return [exhaustionCount]string{"stop all", "stop first", "repeat until all"}[e]
	}
	return fmt.Sprintf("exhaustion(%d)", uint8(e))
}

// MixOption changes a [Mix].
type MixOption func(*mixConfig)

type mixConfig struct{ exhaustion Exhaustion }

// WithExhaustion sets what happens when a source has no more elements; default
// [StopAll].
func WithExhaustion(e Exhaustion) MixOption { return func(c *mixConfig) { c.exhaustion = e } }

// MixSource draws its elements from several sources by weight. It is a
// [pipeline.Source] whose cursors tell positions.
type MixSource[T any] struct {
	sources []pipeline.Source[T]
	weights []float64
	mixConfig
}

// Mix returns the source whose every element is the next one of a source drawn at random: source i
// with the probability of weights[i] over the sum of the weights of those that are
// there. The draws are a function of [pipeline.Start] and their number, so that a
// resumed mix draws the same. An element is drawn in time linear in the number of
// sources, all of which are open at once.
//
// Each source has a seed of its own, and another each time [RepeatUntilAll] begins
// it. A source that ends without having given anything is not begun again. An error about
// an element is passed on, and its source goes on; when a source cannot be begun again
// the stream ends.
//
// Weights are finite and over 0, and so is their sum. The error wraps [ErrOption].
func Mix[T any](sources []pipeline.Source[T], weights []float64, opts ...MixOption) (*MixSource[T], error) {
	m := &MixSource[T]{sources: slices.Clone(sources), weights: slices.Clone(weights)}
	for _, o := range opts {
		o(&m.mixConfig)
	}
	if len(sources) == 0 || len(sources) != len(weights) {
		return nil, fmt.Errorf("%w: Mix of %d sources with %d weights; it needs one for each", ErrOption, len(sources), len(weights))
	}
	if m.exhaustion >= exhaustionCount {
		return nil, fmt.Errorf("%w: WithExhaustion(%v) is not StopAll, StopFirst or RepeatUntilAll", ErrOption, m.exhaustion)
	}
	sum := 0.0
	for i, w := range weights {
		sum += w
		if !(w > 0) || math.IsInf(sum, 0) {
			return nil, fmt.Errorf("%w: weight %d of Mix is %v; weights are over 0, and their sum is finite", ErrOption, i, w)
		}
	}
	return m, checkSources("Mix", sources)
}

// Count implements [pipeline.Counter] under [StopAll]. Otherwise, or if a source does not
// count, the error wraps [ErrNoCount].
func (m *MixSource[T]) Count(ctx context.Context) (int64, error) {
	if m.exhaustion != StopAll {
		return 0, fmt.Errorf("%w: how long a mix is under %v depends on its draws", ErrNoCount, m.exhaustion)
	}
	return countAll(ctx, m.sources)
}

// ShardFiles implements [pipeline.FileSharder]: the mix of what rank has of each
// source. The error wraps [ErrOption] if one of them cannot be split by file.
func (m *MixSource[T]) ShardFiles(rank, world int) (pipeline.Source[T], error) {
	if err := checkRank(rank, world); err != nil {
		return nil, err
	}
	part := &MixSource[T]{weights: m.weights, mixConfig: m.mixConfig}
	for i, src := range m.sources {
		sharder, ok := src.(pipeline.FileSharder[T])
		if !ok {
			return nil, fmt.Errorf("%w: source %d of Mix, %s, cannot be split by file", ErrOption, i, nameOf(src))
		}
		s, err := sharder.ShardFiles(rank, world)
		if err != nil {
			return nil, err
		}
		part.sources = append(part.sources, s)
	}
	return part, nil
}

// Describe implements [pipeline.Describer].
func (m *MixSource[T]) Describe() string {
	return fmt.Sprintf("mix (%v) of %d: ", m.exhaustion, len(m.sources)) +
		describeAll(m.sources, func(i int) string { return fmt.Sprintf("%v of ", m.weights[i]) })
}

// Name implements [pipeline.Named].
func (m *MixSource[T]) Name() string { return "mix" }

// mixPosition is where a mixCursor stands.
type mixPosition struct {
	Draws    uint64             `json:"draws"`
	Children []mixChildPosition `json:"children"`
}

type mixChildPosition struct {
	Lap   uint64         `json:"lap,omitempty"`   // how often it has ended
	Given bool           `json:"given,omitempty"` // something, since it was begun
	Gone  bool           `json:"gone,omitempty"`  // it is not drawn any more
	At    nestedPosition `json:"at"`
}

// Open implements [pipeline.Source]. The error wraps [ErrPosition], or is that of a
// source.
func (m *MixSource[T]) Open(ctx context.Context, at pipeline.Start) (pipeline.Cursor[T], error) {
	p := mixPosition{Children: make([]mixChildPosition, len(m.sources))}
	if at.Position != nil {
		p.Children = nil
		if err := decodePosition(at.Position, &p); err != nil {
			return nil, err
		}
		if len(p.Children) != len(m.sources) {
			return nil, fmt.Errorf("%w: %d sources, the mix has %d", ErrPosition, len(p.Children), len(m.sources))
		}
	}
	c := &mixCursor[T]{mix: m, start: at, draws: p.Draws, key: deriveSeed(at.Seed, seedMix, uint64(at.Epoch))}
	c.children = make([]mixChild[T], len(m.sources))
	for i := range c.children {
		child, from := &c.children[i], p.Children[i]
		child.weight, child.lap, child.given, child.gone = m.weights[i], from.Lap, from.Given, from.Gone
		if child.gone && child.lap == 0 {
			return nil, errors.Join(fmt.Errorf("%w: source %d is gone but has not ended", ErrPosition, i), c.Close())
		}
		if child.lap > 0 {
			c.ended++
		}
		if child.gone {
			continue
		}
		if err := c.open(ctx, i, from.At); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	c.weigh()
	return c, nil
}

type mixCursor[T any] struct {
	mix      *MixSource[T]
	start    pipeline.Start
	key      uint64
	draws    uint64
	total    float64 // weight of those that are not gone
	ended    int     // children that have ended once
	children []mixChild[T]
	failed   error // ended the stream
	closing  error // of cursors that were closed on the way
}

type mixChild[T any] struct {
	*nested[T]
	weight float64
	lap    uint64
	given  bool
	gone   bool
}

// open opens source i for its lap.
func (c *mixCursor[T]) open(ctx context.Context, i int, at nestedPosition) error {
	child := &c.children[i]
	start := c.start
	start.Seed = deriveSeed(start.Seed, seedMixChild, uint64(i), child.lap)
	in, err := openNested(ctx, c.mix.sources[i], start, at)
	if err != nil {
		return fmt.Errorf("source %d of mix: %w", i, err)
	}
	child.nested = in
	return nil
}

// weigh adds up the weights of those that are not gone, always in the same order.
func (c *mixCursor[T]) weigh() {
	c.total = 0
	for i := range c.children {
		if !c.children[i].gone {
			c.total += c.children[i].weight
		}
	}
}

// draw returns the next source, −1 if all are gone.
func (c *mixCursor[T]) draw() int {
	u := float64(splitmix(c.key+c.draws*splitmixStep)>>11) / (1 << 53) * c.total
	c.draws++
	last := -1
	below := 0.0
	for i := range c.children {
		if c.children[i].gone {
			continue
		}
		last = i
		if below += c.children[i].weight; u < below {
			break
		}
	}
	return last
}

func (c *mixCursor[T]) Next(ctx context.Context) (v T, err error) {
	for c.failed == nil && !c.over() {
		i := c.draw()
		child := &c.children[i]
		v, err = child.next(ctx)
		for err == io.EOF {
			if c.exhausted(ctx, i); c.failed != nil {
				return v, c.failed
			}
			if child.gone || c.over() {
				break
			}
			v, err = child.next(ctx)
		}
		if err != io.EOF {
			child.given = true
			return v, err
		}
	}
	if c.failed != nil {
		return v, c.failed
	}
	return v, io.EOF
}

// over reports whether the mix has ended.
func (c *mixCursor[T]) over() bool {
	return c.ended == len(c.children) || c.mix.exhaustion == StopFirst && c.ended > 0
}

// exhausted deals with a source that has ended.
func (c *mixCursor[T]) exhausted(ctx context.Context, i int) {
	child := &c.children[i]
	c.closing = errors.Join(c.closing, child.close())
	again := c.mix.exhaustion == RepeatUntilAll && child.given
	if child.lap == 0 {
		c.ended++
	}
	child.lap++
	child.given = false
	if again && !c.over() {
		err := errors.Join(ctx.Err(), c.open(ctx, i, nestedPosition{}))
		if err == nil {
			return
		}
		c.failed = pipeline.Fatal(err)
	}
	child.gone = true
	c.weigh()
}

func (c *mixCursor[T]) Position() any {
	p := mixPosition{Draws: c.draws, Children: make([]mixChildPosition, len(c.children))}
	for i := range c.children {
		child := &c.children[i]
		p.Children[i] = mixChildPosition{Lap: child.lap, Given: child.given, Gone: child.gone}
		if !child.gone {
			p.Children[i].At = child.position()
		}
	}
	return p
}

// Close implements [pipeline.Cursor].
func (c *mixCursor[T]) Close() error {
	err := c.closing
	for i := range c.children {
		err = errors.Join(err, c.children[i].close())
	}
	return err
}
