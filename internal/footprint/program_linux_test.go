package footprint

import (
	"bufio"
	"reflect"
	"strings"
	"testing"
)

const smaps = `00400000-00a00000 r-xp 00000000 fe:00 1234                               /bin/reloader
Size:               6144 kB
Rss:                5000 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
00a00000-01000000 r--p 00600000 fe:00 1234                               /bin/reloader
Anonymous:             4 kB
01000000-01080000 rw-p 00c00000 fe:00 1234                               /bin/reloader
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:           100 kB
7fff0000-7fff1000 r-xp 00000000 00:00 0                                  [vdso]
Anonymous:             0 kB
7fff2000-7fff3000 r-xp 00000000 fe:00 77                                 /lib/unfinished
`

func TestMappings(t *testing.T) {
	got := mappings(bufio.NewScanner(strings.NewReader(smaps)))
	want := []mapping{
		{0x400000, 0xa00000, "/bin/reloader", true, false},
		{0xa00000, 0x1000000, "/bin/reloader", true, true},
		{0x1000000, 0x1080000, "/bin/reloader", false, false},
		{0xc000000000, 0xc000400000, "", false, true},
		{0x7fff0000, 0x7fff1000, "[vdso]", true, false},
		{0x7fff2000, 0x7fff3000, "/lib/unfinished", true, true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("mappings\n%v, want\n%v", got, want)
	}
}

// Code and constants are still usable after their pages were dropped.
func TestReleaseIsHarmless(t *testing.T) {
	for range 3 {
		release()
		if len(strings.Fields(smaps)) < 40 {
			t.Fatal("constants are gone")
		}
	}
}
