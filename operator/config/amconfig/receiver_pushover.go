package amconfig

import (
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// Pushover is one entry of pushover_configs.
type Pushover struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// UserKey is the key of a user or group.
	UserKey string `yaml:"user_key,omitempty"`
	// UserKeyFile is a path in the container.
	UserKeyFile string `yaml:"user_key_file,omitempty" since:"alertmanager=0.26.0" reject:"userKeyFile"`
	// Token of the application.
	Token string `yaml:"token,omitempty"`
	// TokenFile is a path in the container.
	TokenFile string `yaml:"token_file,omitempty" since:"alertmanager=0.26.0" reject:"tokenFile"`
	// Title of the notice.
	Title string `yaml:"title,omitempty"`
	// Message of the notice.
	Message string `yaml:"message,omitempty"`
	// URL is a supplementary URL.
	URL string `yaml:"url,omitempty"`
	// URLTitle is the text of the URL.
	URLTitle string `yaml:"url_title,omitempty"`
	// TTL of the notice, as a Go duration.
	TTL string `yaml:"ttl,omitempty" since:"alertmanager=0.27.0"`
	// Device is a comma-separated list of device names.
	Device string `yaml:"device,omitempty" since:"alertmanager=0.26.0"`
	// Sound of the notice.
	Sound string `yaml:"sound,omitempty"`
	// Priority is -2 to 2.
	Priority string `yaml:"priority,omitempty"`
	// Retry is the interval between repetitions, as a Go duration.
	Retry string `yaml:"retry,omitempty"`
	// Expire is the time during which the notice is repeated, as a Go duration.
	Expire string `yaml:"expire,omitempty"`
	// HTML enables HTML in the message.
	HTML *bool `yaml:"html,omitempty"`
	// Monospace enables a monospace font.
	Monospace *bool `yaml:"monospace,omitempty" since:"alertmanager=0.29.0"`
}

func checkPushover(in *v1alpha1.PushoverConfig) error {
	var userErr, tokenErr, formatErr error
	if in.UserKey == nil && in.UserKeyFile == "" {
		userErr = errors.New("one of userKey and userKeyFile is needed")
	}
	if in.Token == nil && in.TokenFile == "" {
		tokenErr = errors.New("one of token and tokenFile is needed")
	}
	if enabled(in.HTML) && enabled(in.Monospace) {
		formatErr = clientconfig.Exclusive("html", "monospace")
	}
	return errors.Join(
		userErr, tokenErr, formatErr,
		checkOptionalTemplateURL("url", in.URL), checkDuration("ttl", in.TTL), checkDuration("retry", in.Retry),
		checkDuration("expire", in.Expire), checkHTTP(in.HTTPConfig),
	)
}

func (c *compiler) pushover(in *v1alpha1.PushoverConfig) (Pushover, error) {
	notifier, httpErr := c.notifier(in.SendResolved, in.HTTPConfig)
	userKey, userKeyFile, userErr := c.keyOrFile("userKey", in.UserKey, in.UserKeyFile)
	token, tokenFile, tokenErr := c.keyOrFile("token", in.Token, in.TokenFile)
	ttl, ttlErr := goDuration("ttl", in.TTL)
	retry, retryErr := goDuration("retry", in.Retry)
	expire, expireErr := goDuration("expire", in.Expire)
	return Pushover{
		Notifier: notifier, UserKey: userKey, UserKeyFile: userKeyFile, Token: token, TokenFile: tokenFile, Title: in.Title,
		Message: in.Message, URL: text(in.URL), URLTitle: in.URLTitle, TTL: ttl, Device: in.Device, Sound: in.Sound,
		Priority: in.Priority, Retry: retry, Expire: expire, HTML: in.HTML, Monospace: in.Monospace,
	}, errors.Join(httpErr, userErr, tokenErr, ttlErr, retryErr, expireErr)
}

// keyOrFile reads a Secret key, which takes precedence over a file and must not be empty.
func (c *compiler) keyOrFile(field string, sel *corev1.SecretKeySelector, file string) (key, path string, err error) {
	if sel == nil {
		return "", file, c.file(field+"File", file)
	}
	key, err = c.needed(field, *sel)
	return key, "", err
}
