// Command pack joins the CRDs of a folder into one gzipped stream of JSON, one per line.
// Decoding JSON is ten times faster than YAML.
//
//	pack DIR FILE
//
// The output is reproducible: files are read in lexical order and the gzip header has no
// time.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pack DIR FILE")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// pack writes the CRDs of dir to file.
func pack(dir, file string) error {
	names, err := filepath.Glob(filepath.Join(dir, "monitoring.coreos.com_*.yaml"))
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("%s: no CRDs", dir)
	}
	var lines bytes.Buffer
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		line, err := yaml.YAMLToJSONStrict(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		lines.Write(append(line, '\n'))
	}
	var out bytes.Buffer
	zw, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := zw.Write(lines.Bytes()); err != nil {
		return err
	}
	if err := zw.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}
