package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// reported returns the report for lines, with the slowest package and test, and whether everything passed.
func reported(lines ...string) (string, bool) {
	var out strings.Builder
	ok := run(strings.NewReader(strings.Join(lines, "\n")+"\n"), newReport(&out, "example.org/x/", false, time.Now), 1)
	return out.String(), ok
}

func TestPassed(t *testing.T) {
	out, ok := reported(
		`{"Action":"output","Package":"example.org/x/a","Test":"TestOne","Output":"    a_test.go:3: fine\n"}`,
		`{"Action":"pass","Package":"example.org/x/a","Test":"TestOne","Elapsed":1.5}`,
		`{"Action":"pass","Package":"example.org/x/a","Elapsed":1.6}`,
		`{"Action":"skip","Package":"example.org/x/none"}`,
	)
	if !ok {
		t.Error("a run that passed is reported as failed")
	}
	for _, want := range []string{"ok      1.6s  a\n", "1.5s  a TestOne\n", "1 packages in  0m00s\n1 passed, 0 failed\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "fine") || strings.Contains(out, "none") {
		t.Errorf("tells what passed tests said, or names packages without tests:\n%s", out)
	}
}

// The last line counts tests: subtests count as their top-level test, and a package that failed without a failed test
// counts as one.
func TestLastLineCounts(t *testing.T) {
	out, ok := reported(
		`{"Action":"pass","Package":"example.org/x/a","Test":"TestOne"}`,
		`{"Action":"skip","Package":"example.org/x/a","Test":"TestTwo"}`,
		`{"Action":"fail","Package":"example.org/x/a","Test":"TestThree/one"}`,
		`{"Action":"fail","Package":"example.org/x/a","Test":"TestThree/two"}`,
		`{"Action":"fail","Package":"example.org/x/a","Test":"TestThree"}`,
		`{"Action":"fail","Package":"example.org/x/a"}`,
		`{"Action":"fail","Package":"example.org/x/b"}`,
	)
	if ok || !strings.HasSuffix(out, "\n1 passed, 2 failed, 1 skipped\n") {
		t.Errorf("%v\n%s", ok, out)
	}
}

// With each, a line is printed for every test but not for subtests.
func TestEachTest(t *testing.T) {
	var out strings.Builder
	run(strings.NewReader(`{"Action":"pass","Package":"a","Test":"TestOne/sub"}
{"Action":"skip","Package":"a","Test":"TestOne","Elapsed":2}
{"Action":"pass","Package":"a"}
`), newReport(&out, "", true, time.Now), 0)
	if !strings.Contains(out.String(), "skip    2.0s  a TestOne\n") || strings.Contains(out.String(), "sub") {
		t.Error(out.String())
	}
}

func TestNothingIsFailure(t *testing.T) {
	if _, ok := reported("go: no such module"); ok {
		t.Error("a run without a package passes")
	}
}

func TestKilledIsFailure(t *testing.T) {
	out, ok := reported(
		`{"Action":"pass","Package":"example.org/x/b","Elapsed":1.6}`,
		`{"Action":"output","Package":"example.org/x/a","Test":"TestOne","Output":"panic: gone\n"}`,
	)
	if ok || !strings.Contains(out, "FAIL a TestOne\npanic: gone\n") {
		t.Errorf("%v\n%s", ok, out)
	}
}

func TestLogsAreLeftOut(t *testing.T) {
	lines := []string{`{"Action":"output","Package":"example.org/x/a","Test":"TestOne","Output":"    a_test.go:3: it broke\n"}`,
		`{"Action":"output","Package":"example.org/x/a","Test":"TestOne","Output":"        because of this\n"}`}
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf(`{"Action":"output","Package":"example.org/x/a","Test":"TestOne","Output":"level=info %d\n"}`, i))
	}
	lines = append(lines, `{"Action":"fail","Package":"example.org/x/a","Test":"TestOne"}`, `{"Action":"fail","Package":"example.org/x/a"}`)
	out, ok := reported(lines...)
	if ok || !strings.Contains(out, "it broke\n        because of this\n") || strings.Contains(out, "level=info") || !strings.HasSuffix(out, "\n0 passed, 1 failed\n") {
		t.Errorf("%v\n%s", ok, out)
	}
}

// Real go test output: a package that does not compile, one that fails, and one that exits early.
func TestRealFailures(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"go.mod":          "module example.org/x\n\ngo 1.24\n",
		"a/a_test.go":     "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Run(\"sub\", func(t *testing.T) { t.Error(\"it broke\") }) }\n",
		"b/b_test.go":     "package b\n\nfunc TestB(t *testing.T) {}\n",
		"c/c_test.go":     "package c\n\nimport (\"os\"; \"testing\")\n\nfunc TestC(t *testing.T) { os.Exit(3) }\n",
		"d/d_test.go":     "package d\n\nimport \"testing\"\n\nfunc TestD(t *testing.T) { panic(\"at the disco\") }\n",
		"fine/fi_test.go": "package fine\n\nimport \"testing\"\n\nfunc TestFine(t *testing.T) { println(\"noise\") }\n",
	} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("go", "test", "-json", "./...")
	c.Dir, c.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	events, _ := c.Output()
	out, ok := reported(strings.TrimSpace(string(events)))
	if ok {
		t.Errorf("passed:\n%s", out)
	}
	for _, want := range []string{"FAIL a TestA/sub\n    a_test.go:5: it broke", "FAIL b\n", "undefined: testing", "FAIL c", "at the disco", "  ok "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// A failure that no test explains fails the run.
func TestFailedCommand(t *testing.T) {
	out, ok := reported(`{"Action":"pass","Package":"a"}`, `{"Action":"failed"}`)
	if ok || !strings.Contains(out, "another reason") {
		t.Errorf("%v\n%s", ok, out)
	}
}

// A test that fails once and passes when it is retried is listed and does not fail the run; one that fails twice does.
// There is no retry after a data race, a crash, a failed build or many failures.
func TestAgain(t *testing.T) {
	fail := func(test, said string) string {
		return fmt.Sprintf(`{"Action":"output","Package":"a","Test":%[1]q,"Output":%[2]q}
{"Action":"fail","Package":"a","Test":%[1]q}
`, test, said)
	}
	const end, passes = `{"Action":"fail","Package":"a"}`, `{"Action":"pass","Package":"a","Test":"TestOne"}
{"Action":"pass","Package":"a"}`
	one := fail("TestOne/sub", "    a_test.go:3: slow\n") + fail("TestOne", "") + end
	for name, test := range map[string]struct {
		first, second string
		runs          int
		ok            bool
		want          string
	}{
		"passes":    {one, passes, 1, true, "UNSTABLE, passed when run again: a TestOne/sub\n    a_test.go:3: slow\n"},
		"twice":     {one, one, 1, false, "FAIL a TestOne/sub\n"},
		"ends":      {one, `{"Action":"output","Package":"a","Test":"TestOne","Output":"x"}`, 1, false, "FAIL a TestOne/sub\n"},
		"skips":     {one, strings.ReplaceAll(passes, "pass", "skip"), 1, false, "FAIL a TestOne/sub\n"},
		"nothing":   {one, "", 1, false, "FAIL a TestOne/sub\n"},
		"data race": {fail("TestOne", "WARNING: DATA RACE\n") + end, passes, 0, false, "FAIL a TestOne\n"},
		"crash":     {fail("TestOne", "panic: no\n") + end, passes, 0, false, "FAIL a TestOne\n"},
		"build":     {end, passes, 0, false, "FAIL a\n"},
		"many":      {fail("TestOne", "") + fail("TestTwo", "") + fail("TestThree", "") + fail("TestFour", "") + end, passes, 0, false, "FAIL a TestFour\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			r, runs := newReport(&out, "", false, time.Now), 0
			r.again = func(pkg, tests string) (io.Reader, error) {
				runs++
				if pkg != "a" || tests != "^(TestOne)$" {
					t.Errorf("runs %s of %s", tests, pkg)
				}
				return strings.NewReader(test.second), nil
			}
			if ok := run(strings.NewReader(test.first+"\n"), r, 1); ok != test.ok || runs != test.runs || !strings.Contains(out.String(), test.want) {
				t.Errorf("%v after %d more runs, and no %q in\n%s", ok, runs, test.want, out.String())
			}
		})
	}
}
