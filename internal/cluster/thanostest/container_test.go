package thanostest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestExpandAsTheKubelet(t *testing.T) {
	env := map[string]string{"POD_NAME": "r-0", "EMPTY": ""}
	for arg, want := range map[string]string{
		`--label=replica="$(POD_NAME)"`: `--label=replica="r-0"`,
		"$(EMPTY)|$(MISSING)":           "|$(MISSING)",
		"$$(POD_NAME) $$$(POD_NAME)":    "$(POD_NAME) $r-0",
		"$POD_NAME $( $":                "$POD_NAME $( $",
	} {
		if got := expand(arg, env); got != want {
			t.Errorf("expand(%q) = %q, want %q", arg, got, want)
		}
	}
}

func TestContainerMovesBelowAFolder(t *testing.T) {
	root := t.TempDir()
	c := Container{
		Args: []string{
			"rule", "--data-dir=/thanos/data", "--rule-file=/etc/thanos/rules/*/*.yaml", "--http.config=/etc/web/web.yaml",
			"--query.config-file=/etc/missing.yaml", "--web.route-prefix=/etc", "--http-address=localhost:10902", "--flag",
		},
		Env: map[string]string{"POD_NAME": "r-0"},
		Files: map[string]string{
			"/etc/web/web.yaml":            "cert_file: /etc/web/tls.crt\nkey_file: /etc/web/tls.crt.key\nclient_ca_file: /etc/missing.crt\n",
			"/etc/web/tls.crt":             "certificate",
			"/etc/web/tls.crt.key":         "key",
			"/etc/thanos/rules/cm/a.yaml":  "# /etc/web/tls.crt",
			"/etc/thanos/rules/cm/b.yaml":  "",
			"/etc/thanos/rules-other.yaml": "/etc/web/tls.crt",
		},
	}
	p := newProcess(c, root, 1000, 1001)
	if want := []string{
		"rule", "--data-dir=" + root + "/thanos/data", "--rule-file=" + root + "/etc/thanos/rules/*/*.yaml", "--http.config=" + root + "/etc/web/web.yaml",
		"--query.config-file=/etc/missing.yaml", "--web.route-prefix=/etc", "--http-address=localhost:1000", "--flag", "--grpc-address=127.0.0.1:1001",
	}; !slices.Equal(p.args, want) {
		t.Errorf("arguments %q, want %q", p.args, want)
	}
	if want := []string{"POD_NAME=r-0"}; !slices.Equal(p.env, want) {
		t.Errorf("environment %q, want %q", p.env, want)
	}
	if err := c.write(root); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"/etc/web/web.yaml": "cert_file: " + root + "/etc/web/tls.crt\nkey_file: " + root + "/etc/web/tls.crt.key\nclient_ca_file: /etc/missing.crt\n",
		"/etc/web/tls.crt":  "certificate", "/etc/web/tls.crt.key": "key",
		"/etc/thanos/rules/cm/a.yaml": "# /etc/web/tls.crt", "/etc/thanos/rules/cm/b.yaml": "",
		"/etc/thanos/rules-other.yaml": root + "/etc/web/tls.crt",
	} {
		if got, err := os.ReadFile(root + name); err != nil || string(got) != want {
			t.Errorf("%s = %q (%v), want %q", name, got, err, want)
		}
	}
	if err := (Container{Files: map[string]string{"relative": ""}}).write(root); err == nil {
		t.Error("wrote a file with a relative path")
	}
}

func TestReasonHasNoStackTrace(t *testing.T) {
	log := strings.Join([]string{
		`ts=1 caller=tsdb.go:1 level=info msg="opened" err="none"`,
		`ts=1 caller=manager.go:253 level=error msg="loading groups failed" err="/folder/r.yaml: 4:11: group \"g\": bad"`,
		`ts=1 caller=main.go:143 level=error err="invalid syntax\nunquote label value\nmain.parseFlagLabels\n\tgithub.com/x@v1/cmd/config.go:339\nmain.main\n\tgithub.com/x@v1/cmd/main.go:141\nparse labels"`,
		`{"caller":"main.go:143","err":"bad url\nmain.main\n\tx.go:1","level":"error","ts":"1"}`,
		`error parsing commandline arguments: [/folder/thanos rule --a=b]: flag 'a' cannot be repeated`,
		`thanos: error: unknown long flag '--b'`,
		`panic: runtime error`,
	}, "\n")
	want := `/r.yaml: 4:11: group "g": bad; invalid syntax: unquote label value: parse labels; bad url; ` +
		`flag 'a' cannot be repeated; unknown long flag '--b'; runtime error`
	if got := refused(log, "/folder").Reason; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
	if got := refused("Killed\n", "/folder").Reason; got != "Killed\n" {
		t.Errorf("reason of a log of unknown form: %q", got)
	}
}
