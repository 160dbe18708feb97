package fsys_test

import (
	"fmt"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// A file of two blocks is written and synced, then written once more: each block is old or new
// after a crash, or torn at one of three places.
func ExampleDisk() {
	disk := fsys.NewDisk()
	f, err := disk.Create("state")
	if err != nil {
		fmt.Println(err)
		return
	}
	page := make([]byte, 2*fsys.BlockSize)
	_, _ = f.WriteAt(page, 0)
	_ = f.Sync()
	_ = disk.SyncDir(".")
	for i := range page {
		page[i] = 'x'
	}
	_, _ = f.WriteAt(page, 0)

	o := fsys.NewOutcomes(0)
	whole := 0
	for o.Next() {
		left, err := disk.Crash(o.Choose).Open("state")
		if err != nil {
			fmt.Println(err)
			return
		}
		_, _ = left.ReadAt(page, 0)
		first, last := page[:fsys.BlockSize], page[fsys.BlockSize:]
		if first[0] == first[fsys.BlockSize-1] && last[0] == last[fsys.BlockSize-1] {
			whole++
		}
	}
	fmt.Println(o.Count(), "outcomes, without a torn block", whole)
	// Output: 25 outcomes, without a torn block 4
}
