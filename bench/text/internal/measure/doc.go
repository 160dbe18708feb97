// Package measure times jobs inside one process and reports them as JSON lines: the
// Go side of the protocol that measure.py describes. The program of Rosaline and
// that of the other Go libraries share it, so that both are timed alike.
package measure
