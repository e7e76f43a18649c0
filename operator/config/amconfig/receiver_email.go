package amconfig

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// Email is one entry of email_configs. It is the only kind without an HTTP client.
type Email struct {
	// SendResolved also sends notifications about resolved alerts.
	SendResolved *bool `yaml:"send_resolved,omitempty"`
	// To holds comma-separated addresses.
	To string `yaml:"to"`
	// From overrides the global one.
	From string `yaml:"from,omitempty"`
	// Hello overrides the global one.
	Hello string `yaml:"hello,omitempty"`
	// Smarthost is host:port and overrides the global one.
	Smarthost string `yaml:"smarthost,omitempty"`
	// AuthUsername overrides the global one.
	AuthUsername string `yaml:"auth_username,omitempty"`
	// AuthPassword overrides the global one.
	AuthPassword string `yaml:"auth_password,omitempty"`
	// AuthSecret overrides the global one.
	AuthSecret string `yaml:"auth_secret,omitempty"`
	// AuthIdentity overrides the global one.
	AuthIdentity string `yaml:"auth_identity,omitempty"`
	// Headers of the mail.
	Headers map[string]string `yaml:"headers,omitempty"`
	// HTML body; an empty string means none, nil the default.
	HTML *string `yaml:"html,omitempty"`
	// Text body.
	Text string `yaml:"text,omitempty"`
	// RequireTLS overrides the global one.
	RequireTLS *bool `yaml:"require_tls,omitempty"`
	// TLSConfig is used for connections to the mail server.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// ForceImplicitTLS starts connections with TLS.
	ForceImplicitTLS *bool `yaml:"force_implicit_tls,omitempty" since:"alertmanager=0.31.0" reject:"forceImplicitTLS"`
	// Threading groups the mails of an alert group into threads.
	Threading *EmailThreading `yaml:"threading,omitempty" since:"alertmanager=0.30.0" reject:"threading"`
}

// EmailThreading is a threading block.
type EmailThreading struct {
	// Enabled is always true.
	Enabled bool `yaml:"enabled"`
	// ThreadByDate is daily or none.
	ThreadByDate string `yaml:"thread_by_date"`
}

// threadHeaders are set by threading.
var threadHeaders = []string{"references", "in-reply-to"}

func checkEmail(in *v1alpha1.EmailConfig) error {
	var smarthost, threading error
	if in.Smarthost != "" {
		smarthost = checkHostPort("smarthost", in.Smarthost)
	}
	if t := in.Threading; t != nil && t.ThreadByDate != "Daily" && t.ThreadByDate != "None" {
		threading = faults.At("threading.threadByDate", fmt.Errorf("%q is neither Daily nor None", excerpt.Of(t.ThreadByDate, maxShown)))
	}
	return errors.Join(checkNotEmpty("to", in.To), smarthost, threading, checkHeaders(in), faults.At("tlsConfig", clientconfig.CheckTLS(clientconfig.FullTLS(in.TLSConfig))))
}

// checkHeaders rejects names that differ only in case, and those that threading sets. Old versions of Alertmanager compare
// the upper case of the first letters, in which ſ equals s, and other characters are only equal in lower case.
func checkHeaders(in *v1alpha1.EmailConfig) error {
	seen := make(map[string]bool, len(in.Headers))
	for i, h := range in.Headers {
		name := strings.ToLower(strings.ToUpper(h.Key))
		switch {
		case seen[name]:
			return faults.At(fmt.Sprintf("headers[%d].key", i), fmt.Errorf("%q occurs twice", excerpt.Of(h.Key, maxShown)))
		case in.Threading != nil && slices.Contains(threadHeaders, name):
			return faults.At(fmt.Sprintf("headers[%d].key", i), clientconfig.Exclusive(strconv.Quote(h.Key), "threading"))
		}
		seen[name] = true
	}
	return nil
}

func checkHostPort(field, text string) error {
	if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
		return faults.At(field, fmt.Errorf("%q is not host:port, such as smtp.example.com:587", excerpt.Of(text, maxShown)))
	}
	return nil
}

func (c *compiler) email(in *v1alpha1.EmailConfig) (Email, error) {
	var errs faults.List
	if in.Smarthost == "" && !c.globals.SMTPSmarthost {
		errs.Add("smarthost", errNoGlobal)
	}
	if in.From == "" && !c.globals.SMTPFrom {
		errs.Add("from", errNoGlobal)
	}
	password, err := c.value("authPassword", in.AuthPassword)
	errs.Add("", err)
	secret, err := c.value("authSecret", in.AuthSecret)
	errs.Add("", err)
	tls, err := c.tls("tlsConfig", in.TLSConfig)
	errs.Add("", err)
	out := Email{
		SendResolved: in.SendResolved, To: in.To, From: in.From, Hello: in.Hello, Smarthost: in.Smarthost,
		AuthUsername: in.AuthUsername, AuthPassword: password, AuthSecret: secret, AuthIdentity: in.AuthIdentity,
		Headers: keyValues(in.Headers), HTML: in.HTML, Text: in.Text, RequireTLS: in.RequireTLS, TLSConfig: tls,
		ForceImplicitTLS: in.ForceImplicitTLS,
	}
	if t := in.Threading; t != nil {
		out.Threading = &EmailThreading{Enabled: true, ThreadByDate: strings.ToLower(t.ThreadByDate)}
	}
	return out, errs.Err()
}
