//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/internal/parts"
)

// plain returns a configuration of this size in bytes. Configurations with different
// seeds have no line in common.
func plain(size int64, seed string) func(io.Writer) {
	return func(w io.Writer) {
		var line []byte
		for n, left := 0, size; left > 0; n++ {
			line = fmt.Appendf(line[:0], "- job_name: %s-%d\n", seed, n)
			line = line[:min(int64(len(line)), left)]
			left -= int64(len(line))
			_, _ = w.Write(line)
		}
	}
}

func compressed(t *testing.T, write func(io.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	must(t, err)
	write(z)
	must(t, z.Close())
	return b.Bytes()
}

const ruleFiles = 10

// content returns the files of the Secret volume: the configuration and, unless rules is
// 0, rule files of this size in bytes.
func content(t *testing.T, plainText func(io.Writer), seed string, rules int64) map[string]string {
	t.Helper()
	config := compressed(t, plainText)
	files := map[string]string{key: string(config)}
	if rules == 0 {
		return files
	}
	archive := compressed(t, func(w io.Writer) {
		to := tar.NewWriter(w)
		for i := range ruleFiles {
			must(t, to.WriteHeader(&tar.Header{Name: fmt.Sprintf("r%d.yaml", i), Mode: 0o644, Size: rules / ruleFiles}))
			plain(rules/ruleFiles, fmt.Sprintf("%s-r%d", seed, i))(to)
		}
		must(t, to.Close())
	})
	list := parts.List{Version: parts.Version}
	add := func(stream parts.Stream, name string, b []byte) parts.Stream {
		sum := sha256.Sum256(b)
		files[name] = string(b)
		return append(stream, parts.File{Name: name, SHA256: hex.EncodeToString(sum[:])})
	}
	first := len(config) / 2
	list.Config = add(list.Config, key, config[:first])
	for i := 1; first < len(config); i++ {
		end := min(first+1<<20, len(config))
		list.Config = add(list.Config, parts.ConfigName(i), config[first:end])
		first = end
	}
	for i := 1; len(archive) > 0; i++ {
		end := min(1<<20, len(archive))
		list.Rules = add(list.Rules, parts.RulesName(i), archive[:end])
		archive = archive[end:]
	}
	text, err := list.Encode()
	must(t, err)
	files[parts.ListName] = string(text)
	return files
}

// The largest configuration that the operator writes for a memory limit works in a
// container with this limit: in the init container, in the sidecar, after a change of the
// whole content, and after a restart. 50Mi is the default limit. The last case has a
// configuration of 100 MB.
func TestLargestConfigurationInItsLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("writes hundreds of megabytes")
	}
	for name, c := range map[string]struct {
		limit, rules int64 // 1/rules of the total are rules; 0 for none
	}{
		"the default limit":            {50 << 20, 0},
		"the default limit with rules": {50 << 20, 3},
		"a small limit":                {24 << 20, 0},
		"100 MB":                       {footprint.MinLimit(100_000_000), 0},
	} {
		t.Run(name, func(t *testing.T) {
			box := newContainer(t, c.limit)
			room := footprint.MaxPlain(c.limit)
			var rules int64
			if c.rules > 0 {
				rules = room / c.rules / ruleFiles / 4096 * 4096 * ruleFiles
				room -= ruleFiles * footprint.InMemoryVolume(rules/ruleFiles)
			}
			size := room/4096*4096 - 4096 // one page for the inode of the file
			if name == "100 MB" && size < 100_000_000-8192 {
				t.Fatalf("%d bytes fit", size)
			}
			changes := 2
			if size > 100_000_000-8192 {
				changes = 1 // takes as long as all other cases together
			}
			box.run(size, rules, changes)
		})
	}
}
