package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// Server is a server whose clients trust the CA in a ConfigMap. Its certificate is in a Secret, which all
// replicas of the server read. Its exported fields are set before its first use.
type Server struct {
	Writer apply.Webhooks // also reads
	// Name of the server in its certificates.
	Name string
	// Namespace of the Secret and the ConfigMap. The CA has the key ca.crt in both.
	Namespace, Secret, ConfigMap string
	// Hosts are the names by which clients reach the server.
	Hosts  []string
	Logger *slog.Logger

	current atomic.Pointer[tls.Certificate]
	served  string // resourceVersion of the Secret
}

// missing is the interval between two reads of the Secret until the server has a certificate.
const missing = 2 * time.Second

var errNoCertificate = errors.New("there is no certificate yet")

// Certificate returns the certificate to serve. It is a function of [tls.Config].
func (s *Server) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c := s.current.Load(); c != nil {
		return c, nil
	}
	return nil, errNoCertificate
}

// Run serves the certificate in the Secret until the context ends. While leads returns true, it also creates and
// renews the certificates. It retries after failures, and logs a repeated failure only once.
func (s *Server) Run(ctx context.Context, leads func() bool) {
	last := ""
	for {
		text := ""
		if err := s.once(ctx, time.Now(), leads()); err != nil {
			text = err.Error()
		}
		if text != "" && text != last && ctx.Err() == nil {
			s.Logger.Error("cannot keep the certificate, trying again", "err", text)
		}
		last = text
		pause := interval
		if s.current.Load() == nil {
			pause = missing
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// once reads, and decides and writes if this replica leads.
func (s *Server) once(ctx context.Context, now time.Time, leads bool) error {
	secret, err := s.Writer.Kube.CoreV1().Secrets(s.Namespace).Get(ctx, s.Secret, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && !leads:
		return nil // the leader creates it
	case apierrors.IsNotFound(err):
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Secret}, Type: corev1.SecretTypeTLS}
	case err != nil:
		return fmt.Errorf("read Secret %s/%s: %w", s.Namespace, s.Secret, err)
	}
	if leads {
		if secret, err = s.renew(ctx, secret, now); err != nil {
			return err
		}
	}
	return s.serve(secret)
}

// renew writes the ConfigMap and the Secret if they are not as they should be, and returns the Secret.
func (s *Server) renew(ctx context.Context, secret *corev1.Secret, now time.Time) (*corev1.Secret, error) {
	trusted, err := s.Writer.Kube.CoreV1().ConfigMaps(s.Namespace).Get(ctx, s.ConfigMap, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		trusted = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.ConfigMap}}
	} else if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", s.Namespace, s.ConfigMap, err)
	}
	bundle := trusted.Data[authorityCert]
	want, err := subject(s.Name).decide(secret.Data, [][]byte{[]byte(bundle)}, slices.Sorted(slices.Values(s.Hosts)), now)
	if err != nil {
		return nil, fmt.Errorf("issue a certificate: %w", err)
	}
	if bundle != string(want.bundle()) { // first, so that clients trust the certificate before it is served
		trusted = trusted.DeepCopy()
		trusted.Data = map[string]string{authorityCert: string(want.bundle())}
		if err := s.Writer.ConfigMap(ctx, trusted); err != nil {
			return nil, err
		}
		s.Logger.Info("wrote the CA", "configmap", s.Namespace+"/"+s.ConfigMap)
	}
	if !want.changed {
		return secret, nil
	}
	secret = secret.DeepCopy()
	secret.Data = want.data
	if err := s.Writer.Secret(ctx, secret); err != nil {
		return nil, err
	}
	s.Logger.Info("issued a certificate", "secret", s.Namespace+"/"+s.Secret)
	secret.ResourceVersion = "" // not known: serve reads the data in any case
	return secret, nil
}

// serve uses the certificate of the Secret.
func (s *Server) serve(secret *corev1.Secret) error {
	if secret.ResourceVersion != "" && secret.ResourceVersion == s.served {
		return nil
	}
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return fmt.Errorf("no valid certificate in Secret %s/%s", s.Namespace, s.Secret)
	}
	s.current.Store(&pair)
	s.served = secret.ResourceVersion
	return nil
}
