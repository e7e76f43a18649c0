package amconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// SNS is one entry of sns_configs.
type SNS struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// APIURL overrides the endpoint of the region.
	APIURL string `yaml:"api_url,omitempty"`
	// SigV4 signs requests.
	SigV4 *clientconfig.SigV4 `yaml:"sigv4,omitempty"`
	// TopicARN is the ARN of a topic.
	TopicARN string `yaml:"topic_arn,omitempty"`
	// PhoneNumber is in E.164 format.
	PhoneNumber string `yaml:"phone_number,omitempty"`
	// TargetARN is the ARN of a mobile platform endpoint.
	TargetARN string `yaml:"target_arn,omitempty"`
	// Subject is the subject of emails.
	Subject string `yaml:"subject,omitempty"`
	// Message text.
	Message string `yaml:"message,omitempty"`
	// Attributes of the message.
	Attributes map[string]string `yaml:"attributes,omitempty"`
	// UseAWSHTTPClient uses the HTTP client of the AWS SDK instead of Alertmanager's.
	UseAWSHTTPClient *bool `yaml:"use_aws_http_client,omitempty" since:"alertmanager=0.33.0" reject:"useAWSHTTPClient"`
}

func checkSNS(in *v1alpha1.SNSConfig) error {
	var errs faults.List
	given := 0
	for _, to := range []string{in.TopicARN, in.PhoneNumber, in.TargetARN} {
		if to != "" {
			given++
		}
	}
	if given != 1 && given != 3 { // Alertmanager also accepts all three together
		errs.Add("", errors.New("exactly one of topicARN, phoneNumber and targetARN is needed"))
	}
	if in.APIURL != nil {
		errs.Add("", checkTemplateURL("apiURL", *in.APIURL))
	}
	errs.Add("", checkHTTP(in.HTTPConfig))
	return errs.Err()
}

func (c *compiler) sns(in *v1alpha1.SNSConfig) (SNS, error) {
	notifier, httpErr := c.notifier(in.SendResolved, in.HTTPConfig)
	out := SNS{
		Notifier: notifier, APIURL: text(in.APIURL), TopicARN: in.TopicARN, PhoneNumber: in.PhoneNumber, TargetARN: in.TargetARN,
		Subject: in.Subject, Message: in.Message, Attributes: in.Attributes, UseAWSHTTPClient: in.UseAWSHTTPClient,
	}
	var err error
	out.SigV4, err = c.SigV4(in.Sigv4)
	if out.SigV4 != nil && *out.SigV4 == (clientconfig.SigV4{}) {
		out.SigV4 = nil
	}
	return out, errors.Join(httpErr, faults.At("sigv4", err))
}
