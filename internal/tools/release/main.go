// Command release writes everything that a release consists of from binaries that are built already, the same byte
// for byte wherever it runs:
//
//	release -root . -binaries bin/image -out bin/release -image registry.example/firekeeper -tag v0.1.0
//
//	archive.go    archives without times and owners
//	image.go      OCI images for several platforms
//	roots.go      CA certificates of the images
//	sbom.go       what a binary was built from, as CycloneDX
//	manifests.go  install manifests and the chart
//	notes.go      what changed, and digests and sizes of the images
//	checksums.go  SHA256SUMS
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// release holds the inputs and the output folder of a release.
type release struct {
	root     string // of the source tree
	binaries string // folder: PLATFORM/operator, PLATFORM/config-reloader/config-reloader, …
	out      string
	image    string // prefix of the names of the images
	tag      string // of the images
	version  string // of the release, without "v"
	revision string
	created  time.Time // of the commit
	platform []string  // linux-amd64

	images []published // images that were written
}

// programs are built for every platform and have an image each.
var programs = []program{
	{name: "operator", ports: []string{"8080/tcp"}, entrypoint: "/bin/operator"},
	{name: "config-reloader", folder: "config-reloader", entrypoint: "/bin/reloader", links: []string{"prometheus-config-reloader", "reloader"}},
	{name: "rules-reloader", folder: "rules-reloader", entrypoint: "/bin/reloader", links: []string{"reloader"}},
}

// plugin is built for every platform, too; people run it beside kubectl, so that it has no image.
var plugin = program{name: "kubectl-firekeeper"}

// everything are the programs with an image and the plugin.
func everything() []program { return append(slices.Clone(programs), plugin) }

// program is one of them, as in Dockerfile.operator and Dockerfile.reloader.
type program struct {
	name       string
	folder     string // below that of the platform
	entrypoint string
	ports      []string
	links      []string // other names in /bin
}

func main() {
	var r release
	var platforms string
	var epoch int64
	flag.StringVar(&r.root, "root", ".", "folder of the source tree")
	flag.StringVar(&r.binaries, "binaries", "bin/image", "folder of the binaries, by platform")
	flag.StringVar(&r.out, "out", "bin/release", "folder to write to; it is emptied before")
	flag.StringVar(&r.image, "image", "firekeeper", "what the names of the images begin with: registry/folder")
	flag.StringVar(&r.tag, "tag", "", "tag of the images")
	flag.StringVar(&r.version, "version", "", "version of the release, without v")
	flag.StringVar(&r.revision, "revision", "unknown", "commit")
	flag.Int64Var(&epoch, "epoch", 0, "time of the commit in seconds since 1970")
	flag.StringVar(&platforms, "platforms", "linux-amd64 linux-arm64", "platforms of the binaries")
	flag.Parse()
	r.created, r.platform = time.Unix(epoch, 0).UTC(), strings.Fields(platforms)
	if err := r.write(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// write writes all files.
func (r *release) write() error {
	if r.version == "" || r.tag == "" || len(r.platform) == 0 {
		return errors.New("-version, -tag and -platforms are needed")
	}
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	for _, step := range []func() error{r.writeBinaries, r.writeImages, r.writeSBOMs, r.writeManifests, r.writeChart, r.writeNotes, r.writeSums} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// binary is the file of a program for a platform.
func (r *release) binary(platform string, p program) string {
	return filepath.Join(r.binaries, platform, p.folder, p.name)
}

// writeBinaries writes an archive with all programs for each platform.
func (r *release) writeBinaries() error {
	for _, platform := range r.platform {
		files := []file{{name: "LICENSE", from: filepath.Join(r.root, "LICENSE"), mode: 0o644}}
		for _, p := range everything() {
			files = append(files, file{name: p.name, from: r.binary(platform, p), mode: 0o755})
		}
		name := fmt.Sprintf("firekeeper_%s_%s.tar.gz", r.version, strings.ReplaceAll(platform, "-", "_"))
		if err := writeArchive(filepath.Join(r.out, name), files); err != nil {
			return err
		}
	}
	return nil
}
