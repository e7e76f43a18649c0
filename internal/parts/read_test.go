package parts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"
)

func pack(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func archive(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadPutsTheFilesTogether(t *testing.T) {
	config, rules := pack(t, "scrape_configs: []\n"), pack(t, archive(t, "a.yaml", "groups: []\n"))
	files := map[string][]byte{first: config[:5], ConfigName(1): config[5:], RulesName(12): rules}
	list := List{Config: Stream{{Name: first}, {Name: ConfigName(1)}}, Rules: Stream{{Name: RulesName(12)}}}
	for _, s := range []Stream{list.Config, list.Rules} {
		for i := range s {
			sum := sha256.Sum256(files[s[i].Name])
			s[i].SHA256 = hex.EncodeToString(sum[:])
		}
	}
	text, err := list.Encode()
	if err != nil {
		t.Fatal(err)
	}
	files[ListName] = text
	plain, found, err := Read(files, first)
	if err != nil || string(plain) != "scrape_configs: []\n" || len(found) != 1 || found["a.yaml"] != "groups: []\n" {
		t.Errorf("%q, %v, %v", plain, found, err)
	}
	for _, name := range []string{first, ConfigName(1), RulesName(12)} {
		kept := files[name]
		files[name] = []byte("another version")
		if _, _, err := Read(files, first); !errors.Is(err, ErrMixed) {
			t.Errorf("another %s: %v", name, err)
		}
		delete(files, name)
		if _, _, err := Read(files, first); !errors.Is(err, ErrMixed) {
			t.Errorf("no %s: %v", name, err)
		}
		files[name] = kept
	}
	if plain, found, err := Read(map[string][]byte{first: config}, first); err != nil || string(plain) != "scrape_configs: []\n" || found != nil {
		t.Errorf("one file: %q, %v, %v", plain, found, err)
	}
}
