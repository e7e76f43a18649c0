package commands

import (
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/web"
)

// webOptions are the flags of the HTTP server of a process.
type webOptions struct {
	ListenAddress       string
	Web                 httpserver.TLS
	API                 string // a mode of package web
	WebhookCertificates string // NAMESPACE/NAME of a Secret; empty disables the management of certificates
	listenSet, tlsSet   bool   // whether the user gave --web.listen-address, --web.enable-tls
}

func (o *webOptions) bindWeb(flags flagSet) {
	flags.Flag("web.listen-address", "host:port to serve metrics, health, profiles and webhooks on. Default of admission-webhook: "+webhookAddress+", of ui: "+uiAddress+".").
		Default(":8080").IsSetByUser(&o.listenSet).StringVar(&o.ListenAddress)
	flags.Flag("web.api", "Who may read the HTTP API: authenticated (anyone who may get the object in the cluster), open (anyone who reaches the port) or off. ui serves this machine only unless it is open.").
		Default(web.Authenticated).EnumVar(&o.API, web.Authenticated, web.Open, web.Off)
	flags.Flag("web.enable-tls", "Serve HTTPS. Default of admission-webhook.").IsSetByUser(&o.tlsSet).BoolVar(&o.Web.Enable)
	flags.Flag("web.enable-http2", "Allow HTTP/2 over TLS.").BoolVar(&o.Web.HTTP2)
	flags.Flag("web.cert-file", "PEM file with the server certificate.").Default("/etc/tls/private/tls.crt").StringVar(&o.Web.CertFile)
	flags.Flag("web.key-file", "PEM file with the key of --web.cert-file.").Default("/etc/tls/private/tls.key").StringVar(&o.Web.KeyFile)
	flags.Flag("web.client-ca-file", "PEM file with the CAs of client certificates. If it exists, clients must present a certificate.").
		Default("/etc/tls/private/tls-ca.crt").StringVar(&o.Web.ClientCAs)
	flags.Flag("web.tls-reload-interval", "How often to reread the certificate files. If one is invalid, the previous certificates stay in use.").
		Default("1m").DurationVar(&o.Web.ReloadInterval)
	flags.Flag("web.tls-min-version", "Minimum TLS version: VersionTLS12 or VersionTLS13. Empty means VersionTLS12.").
		Default("VersionTLS13").StringVar(&o.Web.MinVersion)
	flags.Flag("web.tls-cipher-suites", "TLS 1.2 cipher suites by their Go names, comma-separated, repeatable. Default: those of Go.").
		SetValue(csv{&o.Web.CipherSuites})
	flags.Flag("web.tls-curves", "Elliptic curves, comma-separated, repeatable: "+strings.Join(httpserver.Curves(), ", ")+". Default: those of Go.").
		SetValue(csv{&o.Web.Curves})
	flags.Flag("manage-webhook-certificates", "NAMESPACE/NAME of a Secret in which to create and renew the serving certificate of the webhooks. "+
		"Its CA is written into the webhook configurations of deploy/components and the AlertmanagerConfig CRD. Default: none.").
		StringVar(&o.WebhookCertificates)
}

func (o *webOptions) validateWeb() error {
	if o.WebhookCertificates == "" {
		return nil
	}
	if _, err := catalog.FullKey(o.WebhookCertificates); err != nil {
		return fmt.Errorf("--manage-webhook-certificates: %w", err)
	}
	return nil
}
