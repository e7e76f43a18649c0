package certs

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// interval is the time between two checks, and so the maximum delay until a new or
// changed configuration gets the CA.
const interval = time.Minute

// Options configure [Options.Run].
type Options struct {
	Writer          apply.Webhooks // also reads
	Namespace, Name string         // of the Secret
	Logger          *slog.Logger
}

// Run manages the certificates until the context ends. It retries after failures, and
// logs a repeated failure only once.
func (o *Options) Run(ctx context.Context) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	last := ""
	for {
		text := ""
		if err := o.once(ctx, time.Now()); err != nil {
			text = err.Error()
		}
		if text != "" && text != last && ctx.Err() == nil {
			o.Logger.Error("cannot keep the certificate of the webhooks, trying again", "err", text, "retry_in", interval.String())
		}
		last = text
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// once reads, decides and writes once.
func (o *Options) once(ctx context.Context, now time.Time) error {
	callers, err := o.callers(ctx)
	if err != nil || len(callers) == 0 {
		return err
	}
	secret, err := o.Writer.Kube.CoreV1().Secrets(o.Namespace).Get(ctx, o.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name}, Type: corev1.SecretTypeTLS}
	} else if err != nil {
		return fmt.Errorf("read Secret %s/%s: %w", o.Namespace, o.Name, err)
	}
	want, err := webhook.decide(secret.Data, bundlesOfAll(callers), hostsOfAll(callers), now)
	if err != nil {
		return fmt.Errorf("issue a certificate: %w", err)
	}
	for _, c := range callers { // first, so that API servers trust the certificate before it is served
		if c.trusts(want.bundle()) {
			continue
		}
		if err := o.Writer.Bundle(ctx, c.Caller, want.bundle()); err != nil {
			return err
		}
		o.Logger.Info("wrote the CA of the webhooks", "kind", c.Kind, "name", c.Name)
	}
	if !want.changed {
		return nil
	}
	secret = secret.DeepCopy()
	secret.Data = want.data
	if err := o.Writer.Secret(ctx, secret); err != nil {
		return err
	}
	o.Logger.Info("issued a certificate for the webhooks", "secret", o.Namespace+"/"+o.Name)
	return nil
}

// hostsOfAll returns the hosts of all callers, sorted and without duplicates.
func hostsOfAll(callers []caller) (out []string) {
	for _, c := range callers {
		out = append(out, c.hosts...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bundlesOfAll returns the bundles of all callers.
func bundlesOfAll(callers []caller) (out [][]byte) {
	for _, c := range callers {
		out = append(out, c.bundles...)
	}
	return out
}
