package resume

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rosaline-go/rosaline/internal/fsys"
)

// TestReserve: after some appends the log is longer than its frames, by zeros that are no damage;
// an append then writes within the file. Closed, it has its frames alone.
func TestReserve(t *testing.T) {
	d := newDisk(t)
	o, err := openRun(d)
	require.NoError(t, err)
	longer, within := 0, 0
	for i := range 3000 {
		appends := d.Ops(fsys.OpAppend)
		require.NoError(t, o.commit())
		within += 1 - (d.Ops(fsys.OpAppend) - appends)
		size := int64(len(readFile(t, d, logName)))
		require.GreaterOrEqual(t, size, o.log.Size())
		require.Less(t, size, o.log.Size()+logReserve)
		if size > o.log.Size() {
			longer++
		}
		if i%500 == 499 {
			r, err := InspectLog(logName, WithFS(d))
			require.NoError(t, err)
			require.True(t, r.Sound())
			require.Equal(t, i+1, r.Frames)
			require.Equal(t, size-o.log.Size(), r.Free)

			left := d.Kill()
			again, err := openRun(left)
			require.NoError(t, err)
			require.NoError(t, again.check())
			require.EqualValues(t, o.log.Size(), len(readFile(t, left, logName)))
			again.close()
		}
	}
	require.Greater(t, longer, 2900)
	require.Greater(t, within, 2900)
	size := o.log.Size()
	o.close()
	require.EqualValues(t, size, len(readFile(t, d, logName)))

	// What is not zeros is torn.
	all := readFile(t, d, logName)
	writeFile(t, d, logName, append(all, append(make([]byte, 70_000), 1)...))
	r, err := InspectLog(logName, WithFS(d))
	require.NoError(t, err)
	require.Zero(t, r.Free)
	require.EqualValues(t, len(all), r.Torn.Offset)
}
