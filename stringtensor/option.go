package stringtensor

// BuilderOption is an option of [NewBuilder].
type BuilderOption interface{ builder(*Builder) }

// OffsetsOption is an option of [FromOffsets], [FromGPUBuffers] and [FromViews].
type OffsetsOption interface{ offsets(*offsetsConfig) }

// CompactOption is an option of [Column.Compact].
type CompactOption interface{ compact(*compactConfig) }

// DeviceOption is an option of [Column.GPUBuffers] and
// [Column.GPUBuffersInto].
type DeviceOption interface {
	device(deviceConfig) deviceConfig
}

// BufferOption is an option of everything that makes buffers.
type BufferOption interface {
	BuilderOption
	OffsetsOption
	CompactOption
}

type bufferLimit int

// WithMaxBuffer sets the longest buffer in bytes, from MaxInline+1 to
// [MaxStringLen], the default; values outside are moved to the nearer end. Tests
// lower it to reach the limits with little memory.
func WithMaxBuffer(n int) BufferOption {
	return bufferLimit(min(max(n, MaxInline+1), MaxStringLen))
}

func (n bufferLimit) builder(b *Builder)       { b.limit = int(n) }
func (n bufferLimit) offsets(c *offsetsConfig) { c.limit = int(n) }
func (n bufferLimit) compact(c *compactConfig) { c.limit = int(n) }

type offsetsConfig struct {
	limit   int
	valid   bitmap
	raw     bool
	release func()
}

func newOffsetsConfig(opts []OffsetsOption) offsetsConfig {
	c := offsetsConfig{limit: MaxStringLen}
	for _, o := range opts {
		o.offsets(&c)
	}
	return c
}

type offsetsOption func(*offsetsConfig)

func (f offsetsOption) offsets(c *offsetsConfig) { f(c) }

// WithValidity says which rows are null: bit offset+i of bits, least significant
// bit first, is 1 when row i is valid. The default, also for nil bits, is that
// all are. The bits are not copied and must not change any more.
func WithValidity(bits []byte, offset int) OffsetsOption {
	return offsetsOption(func(c *offsetsConfig) { c.valid = bitmap{bits, offset} })
}

// WithRawBytes leaves out the check for UTF-8, which is on by default, for rows
// that are bytes rather than text.
func WithRawBytes() OffsetsOption {
	return offsetsOption(func(c *offsetsConfig) { c.raw = true })
}

// WithRelease makes the memory borrowed: release is called once when the column
// and all columns derived from it are released, or at once where no row is left
// in it. The default is Go memory, which needs none. When the call that is given this option fails, release is not
// called and the memory stays the caller's.
func WithRelease(release func()) OffsetsOption {
	return offsetsOption(func(c *offsetsConfig) { c.release = release })
}

type compactConfig struct {
	limit int
	below float64
}

func newCompactConfig(opts []CompactOption) compactConfig {
	c := compactConfig{limit: MaxStringLen, below: -1}
	for _, o := range opts {
		o.compact(&c)
	}
	return c
}

type compactOption func(*compactConfig)

func (f compactOption) compact(c *compactConfig) { f(c) }

// WithUseBelow makes Compact copy only when the rows use less than share of the
// buffers they keep alive; share is from 0, never copy, to 1, and values outside
// are moved to the nearer end. The default is to copy always. 0.5 is a good
// choice for filters in a row: each byte is then copied rarely, and at most twice
// the payload in use is kept.
func WithUseBelow(share float64) CompactOption {
	return compactOption(func(c *compactConfig) { c.below = min(max(share, 0), 1) })
}

// MaxDeviceBytes is the payload in bytes that the uint32 offsets of the device
// layout can address.
const MaxDeviceBytes = 1<<32 - 1

// deviceConfig is passed by value: behind a pointer it would be allocated, and
// packing into the caller's memory allocates nothing.
type deviceConfig struct{ limit int64 }

func newDeviceConfig(opts []DeviceOption) deviceConfig {
	c := deviceConfig{limit: MaxDeviceBytes}
	for _, o := range opts {
		c = o.device(c)
	}
	return c
}

type payloadLimit int64

func (n payloadLimit) device(c deviceConfig) deviceConfig {
	c.limit = int64(n)
	return c
}

// WithMaxPayload sets the longest payload in bytes, from 0 to [MaxDeviceBytes],
// the default; values outside are moved to the nearer end. Devices that take
// int32 offsets need 1<<31 - 1; tests lower it to reach the limit with little
// memory.
func WithMaxPayload(n int64) DeviceOption {
	return payloadLimit(min(max(n, 0), MaxDeviceBytes))
}
