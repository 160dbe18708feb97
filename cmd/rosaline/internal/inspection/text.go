package inspection

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s", r.Path, r.Kind)
	if r.Version != "" {
		fmt.Fprintf(&s, " %s", r.Version)
	}
	if r.CreatedBy != "" {
		fmt.Fprintf(&s, ", written by %s", short(r.CreatedBy))
	}
	codecs := "uncompressed"
	if len(r.Compression) > 0 {
		codecs = strings.Join(r.Compression, ", ")
	}
	fmt.Fprintf(&s, "\n%d bytes, %s\n%d rows in %s\n\n", r.Bytes, codecs, r.Rows, r.groups())

	tab := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "column\ttype\tnulls")
	for _, c := range r.Columns {
		nulls := "no"
		if c.Nullable {
			nulls = "may be"
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\n", short(c.Name), c.Type, nulls)
		writeMetadata(tab, "  ", c.Metadata)
	}
	writeMetadata(tab, "", r.Metadata)
	if err := tab.Flush(); err != nil {
		return err
	}
	if r.Sound {
		s.WriteString("\nsound\n")
	} else {
		means, _ := r.Fault.Verdict()
		fmt.Fprintf(&s, "\n%s: %s\n", means, r.Fault)
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// groups says what the rows lie in.
func (r *Report) groups() string {
	all, name := r.Batches, "record batches"
	if r.Kind == KindParquet {
		all, name = r.RowGroups, "row groups"
	}
	if len(all) == 0 {
		return "no " + name
	}
	least, most := all[0].Rows, all[0].Rows
	for _, g := range all {
		least, most = min(least, g.Rows), max(most, g.Rows)
	}
	return fmt.Sprintf("%d %s of %d to %d rows", len(all), name, least, most)
}

func writeMetadata(w io.Writer, indent string, m map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(w, "%s%s\t= %s\t\n", indent, short(k), short(m[k]))
	}
}

// maxShort is how many bytes of a string of the file are shown.
const maxShort = 120

// short makes a string of the file fit for a terminal.
func short(s string) string {
	if len(s) > maxShort {
		s = strings.ToValidUTF8(s[:maxShort], "") + "…"
	}
	if q := strconv.Quote(s); q != `"`+s+`"` {
		return q
	}
	return s
}
