//go:build cuda && cgo && linux

package gpu

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/rosaline-go/rosaline/kernels"
)

// cuda is a device by gorgonia.org/cu. Of that only functions of the package are used, which
// are calls of the driver and nothing else: its contexts have goroutines of their own that
// race, leak and hang.
type cuda struct {
	device    cu.Device
	current   bool // the primary context is retained and current on this thread
	stream    cu.Stream
	modules   []cu.Module
	functions [kernelCount]cu.Function
}

var kernelNames = [kernelCount]string{"where_prefix", "where_suffix", "where_equal", "where_length", "where_contains"}

// failed says which call failed, and tells a lack of memory from the rest.
func failed(call string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, cu.OutOfMemory):
		return fmt.Errorf("%w: %s", ErrOutOfMemory, call)
	default:
		return fmt.Errorf("%w: %s: %w", ErrDevice, call, err)
	}
}

func devices() ([]Device, error) {
	n, err := cu.NumDevices()
	if err != nil {
		return nil, failed("cuDeviceGetCount", err)
	}
	list := make([]Device, n)
	for i := range list {
		d := &list[i]
		d.Ordinal = i
		device, err := cu.GetDevice(i)
		if err != nil {
			return nil, failed("cuDeviceGet", err)
		}
		if d.Name, err = device.Name(); err != nil {
			return nil, failed("cuDeviceGetName", err)
		}
		if d.Memory, err = device.TotalMem(); err != nil {
			return nil, failed("cuDeviceTotalMem", err)
		}
		for _, a := range []struct {
			attribute cu.DeviceAttribute
			to        *int
		}{
			{cu.ComputeCapabilityMajor, &d.Major},
			{cu.ComputeCapabilityMinor, &d.Minor},
			{cu.MultiprocessorCount, &d.Multiprocessors},
		} {
			if *a.to, err = device.Attribute(a.attribute); err != nil {
				return nil, failed("cuDeviceGetAttribute", err)
			}
		}
	}
	return list, nil
}

// openDriver makes the primary context, which is shared with other users of the device in this
// process, current on the calling thread for good.
func openDriver(d Device) (driver, error) {
	c := &cuda{}
	if err := c.open(d); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *cuda) open(d Device) error {
	var err error
	if c.device, err = cu.GetDevice(d.Ordinal); err != nil {
		return failed("cuDeviceGet", err)
	}
	context, err := c.device.RetainPrimaryCtx()
	if err != nil {
		return failed("cuDevicePrimaryCtxRetain", err)
	}
	c.current = true
	if err := cu.SetCurrentContext(context); err != nil {
		return failed("cuCtxSetCurrent", err)
	}
	if c.stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return failed("cuStreamCreate", err)
	}
	module, err := cu.LoadData(kernels.Where)
	if err != nil {
		return failed("cuModuleLoadData", err)
	}
	c.modules = append(c.modules, module)
	for k, name := range kernelNames {
		if c.functions[k], err = module.Function(name); err != nil {
			return failed("cuModuleGetFunction of "+name, err)
		}
	}
	return nil
}

func (c *cuda) close() error {
	if !c.current {
		return nil
	}
	var errs []error
	if c.stream != (cu.Stream{}) {
		errs = append(errs, failed("cuStreamDestroy", c.stream.Destroy()))
	}
	for _, m := range c.modules {
		errs = append(errs, failed("cuModuleUnload", m.Unload()))
	}
	errs = append(errs, failed("cuCtxSetCurrent", cu.SetCurrentContext(cu.CUContext{})))
	errs = append(errs, failed("cuDevicePrimaryCtxRelease", c.device.ReleasePrimaryCtx()))
	c.current = false
	return errors.Join(errs...)
}

func (c *cuda) alloc(bytes int64) (address, error) {
	p, err := cu.MemAlloc(bytes)
	return address(p), failed(fmt.Sprintf("cuMemAlloc of %d bytes", bytes), err)
}

func (c *cuda) free(at address) error { return failed("cuMemFree", cu.MemFree(cu.DevicePtr(at))) }

func (c *cuda) pin(bytes int) ([]byte, error) {
	p, err := pinned(bytes)
	if err != nil {
		return nil, failed(fmt.Sprintf("cuMemHostAlloc of %d bytes", bytes), err)
	}
	return unsafe.Slice((*byte)(p), bytes), nil
}

func (c *cuda) unpin(memory []byte) error {
	return failed("cuMemFreeHost", cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(memory))))
}

func (c *cuda) upload(to address, from []byte) error {
	return failed("cuMemcpyHtoDAsync", cu.MemcpyHtoDAsync(cu.DevicePtr(to), unsafe.Pointer(unsafe.SliceData(from)), int64(len(from)), c.stream))
}

func (c *cuda) download(to []byte, from address) error {
	return failed("cuMemcpyDtoHAsync", cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(to)), cu.DevicePtr(from), int64(len(to)), c.stream))
}

func (c *cuda) clear(to address, words int) error {
	return failed("cuMemsetD32Async", cu.MemsetD32Async(cu.DevicePtr(to), 0, int64(words), c.stream))
}

func (c *cuda) launch(k kernel, blocks int, parameters ...uint64) error {
	list := make([]unsafe.Pointer, len(parameters))
	for i := range parameters {
		list[i] = unsafe.Pointer(&parameters[i])
	}
	return failed("launch of "+kernelNames[k], c.functions[k].Launch(blocks, 1, 1, kernels.Block, 1, 1, 0, c.stream, list))
}

func (c *cuda) synchronize() error { return failed("cuStreamSynchronize", c.stream.Synchronize()) }
