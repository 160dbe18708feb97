package inspection

import "github.com/rosaline-go/rosaline/pipeline/resume"

// Luminamoon is what a checkpoint of luminamoon says.
type Luminamoon struct {
	Head
	*LuminamoonCommit                  // the one that counts, nil if there is none
	Slots             []LuminamoonSlot `json:"slots,omitempty"`
}

// LuminamoonCommit is what a slot of a checkpoint of luminamoon says.
type LuminamoonCommit struct {
	Epoch      uint64               `json:"epoch"` // number of the write
	Batch      uint64               `json:"batch"`
	Coordinate LuminamoonCoordinate `json:"coordinate"`
	Hashes     uint32               `json:"hashes"` // that must be in the dedup file
}

// LuminamoonCoordinate has the fields of luminamoon by its names.
type LuminamoonCoordinate struct {
	Shard      uint32 `json:"shard"`
	ByteOffset uint64 `json:"byte_offset"`
	RowGroup   uint32 `json:"row_group"`
	Page       uint32 `json:"page"`
	RowInPage  uint32 `json:"row_in_page"`
	GlobalRow  uint64 `json:"global_row"`
}

// LuminamoonSlot is one of a checkpoint of luminamoon.
type LuminamoonSlot struct {
	Slot              string `json:"slot"`   // A or B
	Offset            int64  `json:"offset"` // bytes, in the file
	Counts            bool   `json:"counts"`
	*LuminamoonCommit        // nil if it is not sound
	Error             string `json:"error,omitempty"`
}

func inspectLuminamoon(h Head, files resume.Option) (*Luminamoon, error) {
	r := &Luminamoon{Head: h}
	found, err := resume.InspectLuminamoon(h.Path, files)
	if err == nil {
		for i, s := range found.Slots {
			slot := LuminamoonSlot{Slot: string(rune('A' + i)), Offset: s.Offset, Counts: i == found.Current, Error: optionalReason(s.Err)}
			if c := s.Checkpoint; s.Err == nil {
				slot.LuminamoonCommit = &LuminamoonCommit{c.Epoch, c.Batch,
					LuminamoonCoordinate{c.Shard, c.Offset, c.RowGroup, c.Page, c.RowInPage, c.Row}, c.Hashes}
			}
			if r.Slots = append(r.Slots, slot); slot.Counts {
				r.LuminamoonCommit = slot.LuminamoonCommit
			}
		}
		err = found.Err
	}
	return r, r.failed(err)
}

// Dedup is what a dedup file of luminamoon holds.
type Dedup struct {
	Head
	Bytes  int64 `json:"bytes"`
	Hashes int64 `json:"hashes"`
}

func inspectDedup(h Head, files resume.Option) (*Dedup, error) {
	r := &Dedup{Head: h}
	err := resume.ReadLuminamoonHashes(h.Path, func(hashes []uint64) error {
		r.Hashes += int64(len(hashes))
		return nil
	}, files)
	r.Bytes = 8 * r.Hashes
	return r, r.failed(err)
}
