package promconfig

import (
	"strings"
	"testing"
)

func TestCheckHost(t *testing.T) {
	for _, ok := range []string{
		"blackbox.exporter.io", "blackbox.exporter.io:9115", "127.0.0.1", "127.0.0.1:8080", "1host", "::1", "2001:db8::1", "[::1]:9115", "a_b.c.", "a:65535",
	} {
		if err := checkHost(ok); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for _, bad := range []string{
		"", "http://host", "https://host:80", "ftp://host", "[::1]", "host:", "host:0", "host:65536", "host:http", ":80", "-host", "a..b", "a b",
		"host/path", strings.Repeat("a.", 256), strings.Repeat("a", 64) + "." + strings.Repeat("b", 300),
	} {
		if err := checkHost(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if err := checkHost("http://user:hunter2@host"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a password: %v", err)
	}
}
