// Package gpu holds columns of strings on a CUDA device and answers questions about them there.
// The CPU is the authority: each operation has a twin of the same name in stringtensor with the
// same result.
//
//	stringtensor.Column ──Upload──▸ Column ──WherePrefix, …──▸ Selection ──Fetch──▸ stringtensor.Selection
//	      host, views             offsets u32,                one bit a row,            rows
//	                              payload u8, validity         on the device
//
// [Devices] lists what the machine offers, [Open] gives the engine of one device. An engine is a
// goroutine on a thread of its own that makes every call of the driver; its methods, and those
// of what it gives, may be called by any number of goroutines at once.
//
// Only a program built with cgo and tag cuda, on Linux, has the device. In others, and on
// machines without a driver or a device, Devices and Open answer [ErrNoDevice] and the reason.
// A driver that is there and cannot be used is another error, [ErrDriver], so that nobody takes
// a broken machine for one without a device.
package gpu
