package adversary

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"

	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/cage"
)

// unchecked is the label of objects that bypass the webhooks, so that the operator gets objects that the webhooks would
// reject.
const unchecked = "adversary.example/unchecked"

// webhooks starts the webhooks and registers them with the API server.
func (w *environment) webhooks(ctx context.Context, k *keeper) error {
	ca, err := w.startWebhooks(ctx, k)
	if err != nil {
		return err
	}
	return w.configureWebhooks(ctx, ca)
}

// startWebhooks starts the webhook server with the arguments and the limit of deploy/ and a certificate.
func (w *environment) startWebhooks(ctx context.Context, k *keeper) (ca []byte, err error) {
	c, err := shipped(w.deploy("components", "webhook", "deployment.yaml"))
	if err != nil {
		return nil, err
	}
	chain, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{"tls.crt": chain, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(w.Out, name), text, 0o600); err != nil {
			return nil, err
		}
	}
	args := slices.DeleteFunc(slices.Clone(c.args), func(a string) bool { return strings.HasPrefix(a, "--shutdown-delay") })
	args = append(args, fmt.Sprintf("--web.listen-address=127.0.0.1:%d", w.ports.Ports[1]),
		"--web.cert-file="+filepath.Join(w.Out, "tls.crt"), "--web.key-file="+filepath.Join(w.Out, "tls.key"))
	program := cage.Program{Name: "webhook", Path: filepath.Join(w.Bin, "operator"), Args: args, Limit: c.limit, Log: w.logOf("webhook")}
	return chain, k.run(ctx, program, answers(w.webhookURL()+"/healthz"))
}

func (w *environment) configureWebhooks(ctx context.Context, ca []byte) error {
	var all []*unstructured.Unstructured
	for _, file := range []string{"webhook/configurations.yaml", "webhook-validate-all/configuration.yaml"} {
		found, err := documents(w.deploy("components", file))
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	for _, o := range all {
		hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
		for _, hook := range hooks {
			hook := hook.(map[string]any)
			w.reachable(hook["clientConfig"].(map[string]any), ca)
			hook["objectSelector"] = map[string]any{"matchExpressions": []any{map[string]any{"key": unchecked, "operator": "DoesNotExist"}}}
		}
		o.Object["webhooks"] = hooks
	}
	crd, err := documents(w.deploy("components", "webhook-conversion", "versions.yaml"))
	if err != nil {
		return err
	}
	conversion, err := documents(w.deploy("components", "webhook-conversion", "conversion.yaml"))
	if err != nil {
		return err
	}
	config, _, _ := unstructured.NestedMap(conversion[0].Object, "spec", "conversion")
	w.reachable(config["webhook"].(map[string]any)["clientConfig"].(map[string]any), ca)
	if err := unstructured.SetNestedMap(crd[0].Object, config, "spec", "conversion"); err != nil {
		return err
	}
	return w.apply(ctx, append(all, crd[0])...)
}

// reachable replaces the Service in a clientConfig by a URL.
func (w *environment) reachable(config map[string]any, ca []byte) {
	path, _, _ := unstructured.NestedString(config, "service", "path")
	delete(config, "service")
	config["url"], config["caBundle"] = w.webhookURL()+path, base64.StdEncoding.EncodeToString(ca)
}
