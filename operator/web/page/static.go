package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

//go:embed static
var files embed.FS

// asset is a file that is immutable under its name.
type asset struct {
	mime string
	text []byte
}

// assets are the files by their name in URLs, which has the hash of the content, and those names by
// the name of the file.
var assets = func() (out struct {
	files map[string]asset
	names map[string]string
}) {
	out.files, out.names = map[string]asset{}, map[string]string{}
	for name, mime := range map[string]string{"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8"} {
		text, err := files.ReadFile("static/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		sum := sha256.Sum256(text)
		ext := path.Ext(name)
		hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		out.files[hashed], out.names[name] = asset{mime, text}, hashed
	}
	return out
}()

// static serves the files without authorization: they are the same in every cluster.
func static(w http.ResponseWriter, r *http.Request) {
	file, ok := assets.files[strings.TrimPrefix(r.URL.Path, "/static/")]
	if !ok {
		q := newRequest(w, r)
		_, err := noPage(q)
		fail(w, q, err)
		return
	}
	w.Header().Set("Content-Type", file.mime)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(file.text) // an error means that the caller has disconnected
}
