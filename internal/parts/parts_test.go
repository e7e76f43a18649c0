package parts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const first = "prometheus.yaml.gz"

var sum = strings.Repeat("ab", 32)

func file(name string) File { return File{name, sum} }

func TestParseReadsWhatEncodeWrites(t *testing.T) {
	l := List{Config: Stream{file(first), file(ConfigName(1)), file(ConfigName(2))}, Rules: Stream{file(RulesName(12))}}
	text, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(text, first)
	if err != nil || !slices.Equal(got.Config, l.Config) || !slices.Equal(got.Rules, l.Rules) {
		t.Errorf("%+v, %v", got, err)
	}
	if got.Config.Sum() != l.Config.Sum() || l.Config.Sum() == l.Config[:2].Sum() || l.Config[:0].Sum() != "" {
		t.Error("the sum does not follow the files")
	}
}

func TestParseRefuses(t *testing.T) {
	many := fmt.Sprintf(`{"file":%q,"sha256":%q}`, first, sum)
	for i := range maxFiles {
		many += fmt.Sprintf(`,{"file":%q,"sha256":%q}`, ConfigName(i+1), sum)
	}
	entry := func(name, sum string) string {
		return fmt.Sprintf(`{"config":[{"file":%q,"sha256":%q},{"file":%q,"sha256":%q}]}`, first, strings.Repeat("0", 64), name, sum)
	}
	for name, tc := range map[string]struct{ text, want string }{
		"no JSON":              {"config", "invalid character"},
		"nothing":              {"{}", "must begin with " + first},
		"another beginning":    {fmt.Sprintf(`{"config":[{"file":"x","sha256":%q}]}`, sum), "must begin with " + first},
		"a path":               {entry("../config-1.gz", sum), "no name of a part"},
		"a folder":             {entry("a/config-1.gz", sum), "no name of a part"},
		"an absolute path":     {entry("/etc/passwd", sum), "no name of a part"},
		"a number with zeros":  {entry("config-01.gz", sum), "no name of a part"},
		"the beginning twice":  {entry(first, sum), "no name of a part"},
		"no sum":               {entry("config-1.gz", ""), "sha256 is not"},
		"a short sum":          {entry("config-1.gz", "abcd"), "sha256 is not"},
		"a sum that is no hex": {entry("config-1.gz", strings.Repeat("x", 64)), "sha256 is not"},
		"a part twice":         {strings.Replace(entry("config-1.gz", sum), `]}`, `],"rules":[{"file":"config-1.gz","sha256":"`+sum+`"}]}`, 1), "stands there twice"},
		"too many":             {`{"config":[` + many + `]}`, "65 files, the limit is 64"},
		"too long":             {strings.Repeat(" ", MaxList+1), "the limit is"},
		"a later version":      {`{"version":2}`, "version 2, this config-reloader reads up to version 1: it needs a newer image"},
		"more after it":        {entry("config-1.gz", sum) + "{}", "after top-level value"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse([]byte(tc.text), first); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// Unknown fields from a newer operator are ignored by a reloader with an older image.
func TestParseIgnoresWhatItDoesNotKnow(t *testing.T) {
	text := fmt.Sprintf(`{"version":1,"note":{"a":[1]},"config":[{"file":%q,"sha256":%q,"bytes":7}]}`, first, sum)
	if l, err := Parse([]byte(text), first); err != nil || len(l.Config) != 1 || l.Config[0] != file(first) {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestOwn(t *testing.T) {
	for name, want := range map[string]bool{
		ListName: true, "config-1.gz": true, "rules-12.tar.gz": true, ConfigEnd: true, RulesEnd: true,
		first: false, "config-0.gz": false, "config-1.gz.tmp": false, "rules-1.gz": false, "x/config-1.gz": false,
	} {
		if Own(name) != want {
			t.Errorf("Own(%q) = %v", name, !want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"config":[{"file":"prometheus.yaml.gz","sha256":"` + sum + `"}]}`))
	f.Add([]byte(`{"config":[{"file":"../x","sha256":""}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Parse(text, first)
		if err != nil {
			return
		}
		for i, file := range slices.Concat(l.Config, l.Rules) {
			if (i > 0 && !Own(file.Name)) || strings.ContainsAny(file.Name, `/\`) || len(file.SHA256) != 64 {
				t.Errorf("accepted %+v", file)
			}
		}
	})
}
