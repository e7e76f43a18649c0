package options

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// Client are the flags for connections to a server. All files are reread for every
// request.
type Client struct {
	reload.ClientOptions
	headers []header
}

type header struct{ name, file string }

// Bind declares the flags. Names of TLS flags begin with tls, the others with prefix:
// Bind(app, "reload", "reload") declares --reload-ca-file and --reload-username-file.
func (c *Client) Bind(app *kingpin.Application, prefix, tls string) {
	app.Flag(tls+"-ca-file", "PEM file with the CAs that may sign the server certificate. "+
		"Enables verification.").StringVar(&c.CAFile)
	app.Flag(tls+"-cert-file", "PEM file with the client certificate.").StringVar(&c.CertFile)
	app.Flag(tls+"-key-file", "PEM file with the key of the client certificate.").StringVar(&c.KeyFile)
	app.Flag(tls+"-server-name", "Name expected in the server certificate, instead of the host of the URL.").StringVar(&c.ServerName)
	app.Flag(prefix+"-username-file", "File with the user name for basic authentication.").StringVar(&c.UsernameFile)
	app.Flag(prefix+"-password-file", "File with the password for basic authentication.").StringVar(&c.PasswordFile)
	app.Flag(prefix+"-bearer-token-file", "File with a bearer token.").StringVar(&c.BearerTokenFile)
	List(app.Flag(prefix+"-header-file", "Request header as NAME=FILE, where the file holds the value. Repeatable."), &c.headers, parseHeader)
}

func parseHeader(s string) (header, error) {
	name, file, ok := strings.Cut(s, "=")
	if !ok || name == "" || file == "" {
		return header{}, errors.New("want NAME=FILE")
	}
	return header{http.CanonicalHeaderKey(name), file}, nil
}

// Options returns the parsed flags. prefix is used in the error.
func (c *Client) Options(prefix string) (reload.ClientOptions, error) {
	o := c.ClientOptions
	if len(c.headers) > 0 {
		o.HeaderFiles = map[string]string{}
		for _, h := range c.headers {
			o.HeaderFiles[h.name] = h.file
		}
	}
	if err := o.Validate(); err != nil {
		return o, fmt.Errorf("--%s-…: %w", prefix, err)
	}
	return o, nil
}
