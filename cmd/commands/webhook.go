package commands

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/prometheus/promql/parser"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/internal/version"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/definitions"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/web/server"
	"github.com/firekeeper-dev/firekeeper/operator/webhook/admission"
	"github.com/firekeeper-dev/firekeeper/operator/webhook/certs"
)

const webhookHelp = "Serve the admission and conversion webhooks. It needs no permissions and does not connect to the API server; " +
	"of the flags of the operator only those about the web server, the log and the memory have an effect."

var webhookExample = []string{"admission-webhook --web.cert-file=/tls/tls.crt --web.key-file=/tls/tls.key # on " + webhookAddress}

// webhookAddress is the default address of the command.
const webhookAddress = ":8443"

// Values of --name-validation-scheme.
const (
	legacyNames = "legacy"
	utf8Names   = "utf8"
)

// webhookOptions are the flags of the command admission-webhook.
type webhookOptions struct {
	names  string
	promQL []string
	delay  time.Duration
}

func (w *webhookOptions) bind(cmd *kingpin.CmdClause) {
	cmd.Flag("name-validation-scheme", "Valid names of metrics and labels in PrometheusRules: legacy (those of Prometheus 2) or utf8 (those of Prometheus 3).").
		Default(legacyNames).EnumVar(&w.names, legacyNames, utf8Names)
	cmd.Flag("promql-options", "Optional parts of PromQL to accept in PrometheusRules, comma-separated, repeatable: "+strings.Join(promQLNames(), ", ")+".").
		SetValue(csv{&w.promQL})
	cmd.Flag("shutdown-delay", "How long to go on serving after SIGTERM, until API servers no longer send requests here (Go duration).").
		Default("0s").DurationVar(&w.delay)
}

// promQLOptions are the values of --promql-options, in the order of the help.
var promQLOptions = []struct {
	name string
	set  func(*parser.Options)
}{
	{"experimental-functions", func(o *parser.Options) { o.EnableExperimentalFunctions = true }},
	{"duration-expression-parsing", func(o *parser.Options) { o.ExperimentalDurationExpr = true }},
	{"extended-range-selectors", func(o *parser.Options) { o.EnableExtendedRangeSelectors = true }},
	{"binop-fill-modifiers", func(o *parser.Options) { o.EnableBinopFillModifiers = true }},
}

func promQLNames() (out []string) {
	for _, o := range promQLOptions {
		out = append(out, o.name)
	}
	return out
}

// validate returns an error for the first invalid flag.
func (w *webhookOptions) validate() error {
	if w.delay < 0 {
		return fmt.Errorf("--shutdown-delay=%s: must not be negative", w.delay)
	}
	_, err := w.settings()
	return err
}

// settings returns the settings for checking PrometheusRules.
func (w *webhookOptions) settings() (rules.Settings, error) {
	out := rules.Settings{UTF8Names: w.names == utf8Names}
	for _, name := range w.promQL {
		known := name == "" // from a trailing comma
		for _, o := range promQLOptions {
			if o.name == name {
				known = true
				o.set(&out.PromQL)
			}
		}
		if !known {
			return out, fmt.Errorf("--promql-options: %q is not one of %s", name, strings.Join(promQLNames(), ", "))
		}
	}
	return out, nil
}

// run serves until the shutdown delay after the end of the context has passed.
func (w *webhookOptions) run(ctx context.Context, o *Options, stdout io.Writer) error {
	if !o.listenSet {
		o.ListenAddress = webhookAddress
	}
	if !o.tlsSet {
		o.Web.Enable = true
	}
	log, err := o.logger(stdout)
	if err != nil {
		return err
	}
	klog.SetSlogLogger(log)
	log.Info("starting admission webhook", "version", version.Info(), "build_context", version.Context())
	footprint.Container(o.MemoryRatio, log)
	settings, err := w.settings()
	if err != nil {
		return err
	}
	kinds, err := objectKinds()
	if err != nil {
		return err
	}
	webhooks := admission.New(admission.Options{Rules: settings, Kinds: kinds, Logger: log})
	srv, err := o.listen(server.WebhookHandler(server.Registry("prometheus_operator_admission_webhook"), webhooks), log)
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() {
		if w.delay > 0 {
			log.Info("stopping", "delay", w.delay.String())
		}
		time.AfterFunc(w.delay, stop)
	})
	err = srv.Serve(serving)
	log.Info("stopped")
	return err
}

// webhookCertificates manages the certificate of the webhooks while this replica is the
// leader, until the context ends.
func (o *Options) webhookCertificates(ctx context.Context, cfg *rest.Config, p process) error {
	if !p.leader.Await(ctx) {
		return nil
	}
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	crds, err := definitions.New(cfg)
	if err != nil {
		return err
	}
	secret, err := catalog.FullKey(o.WebhookCertificates)
	if err != nil {
		return err
	}
	certificates := certs.Options{
		Writer: apply.Webhooks{Kube: kube, CRDs: crds}, Namespace: secret.Namespace, Name: secret.Name,
		Logger: p.log.With("component", "webhook-certificates"),
	}
	return certificates.Run(ctx)
}
