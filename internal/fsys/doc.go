// Package fsys is the few operations on files that survive a crash of the machine, behind an
// interface: [FS]. [OS] does them; [Disk] does them in memory, and can lose what was not
// synced in every way that a real disk may, fail at any operation, and fill up.
//
//	            write          sync            crash
//	program ──────────▸ memory ──────▸ disk ──────────▸ what is read afterwards
//
//	file   ┌─────────┬─────────┬─────────┬────┐
//	       │ block 0 │ block 1 │ block 2 │ 3  │  each of 512 bytes that was not synced:
//	       └─────────┴─────────┴─────────┴────┘  old, new, zero where the file grew, or
//	                                       size  torn: new ▸│◂ old
//
//	directory   create x · rename x y · remove z     not synced: the first of these, as many
//	           ├─────────────────────┤               as may be, or any of them
//
// What is to last needs a sync of the file, and for its name one of the directory. To put a
// file in the place of another: make it under a second name, sync it, rename it, sync the
// directory. Only then is the old one gone for sure, and at no time are both.
//
// A test of code that must survive counts its operations, and for each number of them crashes
// and looks at all that may be left:
//
//	for n := range operations {
//		disk := fsys.NewDisk()
//		disk.CrashAfter(n)
//		run(disk) // ends by fsys.ErrCrashed
//		for o := fsys.NewOutcomes(0); o.Next(); {
//			check(disk.Crash(o.Choose))
//		}
//		check(disk.Kill()) // only the process ended
//	}
package fsys
