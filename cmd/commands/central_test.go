package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCentralDiscoveryFlags(t *testing.T) {
	ours := centralOptions{Mode: optIn, Address: "discovery:8443"}
	for name, c := range map[string]struct {
		o    centralOptions
		ours bool
		want string // part of the error, "" for none
	}{
		"off":              {centralOptions{Mode: "off", Address: "nonsense"}, false, ""},
		"opt-in":           {ours, true, ""},
		"without address":  {centralOptions{Mode: optIn}, true, "--central-discovery-address: required"},
		"without port":     {centralOptions{Mode: optIn, Address: "discovery"}, true, "--central-discovery-address=discovery: is not host:port"},
		"another reloader": {ours, false, "needs a config-reloader of Firekeeper"},
		"a URL as address": {centralOptions{Mode: optIn, Address: "https://discovery:8443"}, true, "--central-discovery-address="},
	} {
		if err := c.o.validate(c.ours); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w := ours.workload(); w.Address != "discovery:8443" || w.OwnCA || (&centralOptions{Mode: "off", Address: "x:1"}).workload().Address != "" {
		t.Errorf("%+v", w)
	}
}

// Only certificates reach the pods, whatever else the file contains.
func TestDiscoveryCA(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.crt")
	o := centralOptions{Mode: optIn, Address: "discovery:8443", CAFile: file}
	for name, c := range map[string]struct{ text, want string }{
		"a key":              {"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", `block of type "PRIVATE KEY"`},
		"nothing":            {"", "has no certificate"},
		"nonsense":           {"hello", "has no certificate"},
		"a half":             {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\nAA", "ends within a certificate"},
		"an end that is cut": {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERT", "ends within a certificate"},
		"a broken one":       {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n", "not valid PEM"},
		"both":               {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", `block of type "PRIVATE KEY"`},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, err := o.readCA()(); text != nil || err == nil || !strings.Contains(err.Error(), "--central-discovery-ca-file: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	const one = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
	if err := os.WriteFile(file, []byte("# ours\n"+one+"text\n"+one), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := o.readCA()(); string(text) != one+one || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := o.readCA()(); err == nil {
		t.Error("a missing file is read")
	}
	for _, o := range []centralOptions{{Mode: "off", CAFile: file}, {Mode: optIn, Address: "discovery:8443"}} {
		if o.readCA() != nil {
			t.Errorf("%+v reads a CA", o)
		}
	}
}

// The file with numbers of shards is reread when the kubelet has replaced it, and may be missing.
func TestShardsFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "shards.json")
	read := (&centralOptions{Mode: optIn, Address: "discovery:8443", ShardsFile: file}).readShards()
	if all, err := read(); len(all) != 0 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	for i, c := range []struct {
		text, want string // "" for no error
		shards     int
	}{
		{`{"Prometheus/a/b":{"shards":3}}`, "", 3},
		{`{"Prometheus/a/b":{"shards":4}}`, "", 4}, // of the same size
		{"nonsense", "--central-discovery-shards-file: no valid numbers of shards: ", 0},
		{strings.Repeat("a", 1<<20), "--central-discovery-shards-file: it has 1048576 bytes, more than 983040", 0},
		{"", "", 0},
		{`{"Prometheus/a/b":{"shards":5}}`, "", 5},
	} {
		next := filepath.Join(dir, fmt.Sprint(i)) // as the kubelet, which replaces links
		if err := os.WriteFile(next, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, file); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			all, err := read()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || all["Prometheus/a/b"].Shards != c.shards {
				t.Errorf("%.40s: %v, %v", c.text, all, err)
			}
		}
	}
	if (&centralOptions{Mode: "off", ShardsFile: file}).readShards() != nil || (&centralOptions{Mode: optIn}).readShards() != nil {
		t.Error("it is read without being asked for")
	}
}
