//go:build !cuda || !cgo || !linux

package gpu

import "github.com/rosaline-go/rosaline/internal/cudashim"

func devices() ([]Device, error) { return nil, usable(cudashim.ErrNotBuilt) }

func openDriver(Device) (driver, error) { return nil, usable(cudashim.ErrNotBuilt) }
