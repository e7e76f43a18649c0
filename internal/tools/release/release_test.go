package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// built is a release of a small program in place of ours, for this platform and another.
func built(t *testing.T, out string, times time.Time) *release {
	t.Helper()
	binaries := t.TempDir()
	platforms := []string{runtime.GOOS + "-amd64", runtime.GOOS + "-arm64"}
	for _, platform := range platforms {
		small := filepath.Join(binaries, "small")
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", small, "./testdata/small")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOARCH="+strings.TrimPrefix(platform, runtime.GOOS+"-"))
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, p := range everything() {
			to := filepath.Join(binaries, platform, p.folder, p.name)
			text, err := os.ReadFile(small)
			if err == nil {
				err = os.MkdirAll(filepath.Dir(to), 0o755)
			}
			if err == nil {
				err = os.WriteFile(to, text, 0o755)
			}
			if err == nil {
				err = os.Chtimes(to, times, times)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	r := &release{
		root: "../../..", binaries: binaries, out: out, image: "registry.example/fk", tag: "v9", version: "0.1.0",
		revision: "abc", created: time.Unix(1700000000, 0).UTC(), platform: platforms,
	}
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRelease writes two releases from binaries of different times, which are the same, and looks into one.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	first := built(t, filepath.Join(dir, "first"), time.Now())
	built(t, filepath.Join(dir, "second"), time.Now().Add(-time.Hour))
	if a, b := read(t, dir, "first", "SHA256SUMS"), read(t, dir, "second", "SHA256SUMS"); !bytes.Equal(a, b) {
		t.Errorf("the releases differ:\n%s\n%s", a, b)
	}
	if got, want := strings.Count(string(read(t, dir, "first", "SHA256SUMS")), "\n"), 2+3+8+2+1+1; got != want {
		t.Errorf("%d files, want %d", got, want)
	}
	t.Run("binaries", func(t *testing.T) {
		files := unpacked(t, filepath.Join(first.out, "firekeeper_0.1.0_"+runtime.GOOS+"_arm64.tar.gz"))
		for _, want := range []string{"operator", "config-reloader", "rules-reloader", "kubectl-firekeeper", "LICENSE"} {
			if files[want] == "" {
				t.Errorf("the archive has no %s", want)
			}
		}
	})
	t.Run("images", func(t *testing.T) { images(t, first) })
	t.Run("manifests name the images", func(t *testing.T) {
		text := string(read(t, first.out, "install.yaml"))
		for _, want := range []string{
			"image: registry.example/fk/operator:v9\n", "- --prometheus-config-reloader=registry.example/fk/config-reloader:v9\n",
			"- --rules-reloader-image=registry.example/fk/rules-reloader:v9\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("install.yaml has no %q", want)
			}
		}
		if crds := string(read(t, first.out, "crds.yaml")); strings.Count(crds, "\nkind: CustomResourceDefinition\n") != 10 || strings.Count(crds, "---\n") != 10 {
			t.Error("crds.yaml has not ten CRDs")
		}
	})
	t.Run("the notes", func(t *testing.T) { notes(t, first) })
	t.Run("the chart", func(t *testing.T) {
		files := unpacked(t, filepath.Join(first.out, "firekeeper-0.1.0.tgz"))
		if !strings.Contains(files["firekeeper/values.yaml"], "  operator: registry.example/fk/operator\n") || files["firekeeper/Chart.yaml"] == "" {
			t.Errorf("values:\n%s", files["firekeeper/values.yaml"])
		}
	})
	t.Run("the SBOM", func(t *testing.T) {
		var bom struct {
			BOMFormat  string
			Components []struct{ Name, Version, PURL string }
		}
		if err := json.Unmarshal(read(t, first.out, "operator_0.1.0_"+runtime.GOOS+"_arm64.cdx.json"), &bom); err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, c := range bom.Components {
			names = append(names, c.Name)
		}
		if bom.BOMFormat != "CycloneDX" || !slices.Contains(names, "std") || !slices.Contains(names, "github.com/CycloneDX/cyclonedx-go") {
			t.Errorf("%s of %q", bom.BOMFormat, names)
		}
	})
}

// notes checks that notes.md has the digest of each image as a registry will have it, and the changes.
func notes(t *testing.T, r *release) {
	text := string(read(t, r.out, "notes.md"))
	for _, p := range programs {
		unpackedTo := t.TempDir()
		if out, err := exec.Command("tar", "-xf", filepath.Join(r.out, p.name+"_0.1.0.oci.tar"), "-C", unpackedTo).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		path, err := layout.FromPath(unpackedTo)
		if err != nil {
			t.Fatal(err)
		}
		index, err := path.ImageIndex()
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := index.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		if want := "| `registry.example/fk/" + p.name + ":v9` | `" + manifest.Manifests[0].Digest.String() + "` |"; !strings.Contains(text, want) {
			t.Errorf("notes.md has no %s:\n%s", want, text)
		}
	}
	if !strings.Contains(text, "\n- [FEATURE] ") || strings.Contains(text, "\n## ") {
		t.Error("notes.md has not the changes of the version alone")
	}
}

// images reads the image of config-reloader as a registry would.
func images(t *testing.T, r *release) {
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xf", filepath.Join(r.out, "config-reloader_0.1.0.oci.tar"), "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	outer, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(outer); err != nil {
		t.Fatal(err)
	}
	top, err := outer.IndexManifest()
	if err != nil || len(top.Manifests) != 1 || top.Manifests[0].Annotations["io.containerd.image.name"] != "registry.example/fk/config-reloader:v9" {
		t.Fatalf("%v, %v", top, err)
	}
	index, err := outer.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	all, err := index.IndexManifest()
	if err != nil || len(all.Manifests) != 2 || all.Manifests[1].Platform.Architecture != "arm64" {
		t.Fatalf("%v, %v", all, err)
	}
	image, err := index.Image(all.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Architecture != "amd64" || config.Config.User != "65534:65534" || config.Config.Entrypoint[0] != "/bin/reloader" || !config.Created.Equal(r.created) {
		t.Errorf("config %+v", config)
	}
	got := map[string]string{} // target of links, by name
	flat := mutate.Extract(image)
	defer flat.Close()
	for files := tar.NewReader(flat); ; {
		head, err := files.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got[strings.TrimPrefix(head.Name, "./")] = head.Linkname
	}
	for name, link := range map[string]string{
		"bin/config-reloader": "", "bin/reloader": "config-reloader", "bin/prometheus-config-reloader": "config-reloader",
		"etc/passwd": "", "etc/ssl/certs/ca-certificates.crt": "",
	} {
		if target, is := got[name]; !is || target != link {
			t.Errorf("%s: there %v, a link to %q", name, is, target)
		}
	}
}

// unpacked are the files of a tar.gz, which have no time.
func unpacked(t *testing.T, path string) map[string]string {
	t.Helper()
	packed, err := gzip.NewReader(bytes.NewReader(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for files := tar.NewReader(packed); ; {
		head, err := files.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if !head.ModTime.Equal(epoch) || head.Uid != 0 {
			t.Errorf("%s is of %s, user %d", head.Name, head.ModTime, head.Uid)
		}
		text, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		out[head.Name] = string(text)
	}
}

func TestQualified(t *testing.T) {
	for image, want := range map[string]string{
		"firekeeper": "docker.io/firekeeper", "registry.example/fk": "registry.example/fk", "localhost/fk": "localhost/fk", "host:5000/a/b": "host:5000/a/b",
	} {
		if got := qualified(image); got != want {
			t.Errorf("qualified(%q) = %q, want %q", image, got, want)
		}
	}
}
