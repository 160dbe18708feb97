// Command resume times package resume for the comparison with another system in this folder.
//
// It reads commands from its standard input, a line of JSON each, and answers each with a line:
//
//	compare.py                                            resume, rival.py
//	{"do":"fill","dir":D,"hashes":N}                 ──▸  makes the files of a run
//	{"do":"reopen","dir":D}                          ──▸  opens them: time and memory
//	{"do":"open","lane":L,"kind":K,"dir":D,"state":B} ─▸  opens them for commits
//	{"do":"commit","lane":L,"commits":N}             ──▸  commits: the time of each
//	{"do":"run","form":F,"path":P,"dir":D,"rows":N}  ──▸  goes through rows and commits
//	{"do":"first","form":F,"path":P,"dir":D}         ──▸  resumes there: time to the first batch
//	                                                 ◂──  {…} or {"error":"…"}
//
// The other side, rival.py, follows the same protocol. Besides, this one makes the text that both
// read, {"do":"text","path":P,"bytes":N}, and reads it without a state, {"do":"scan","path":P}.
// bench/resume/run runs it; see README.md one folder up.
package main
