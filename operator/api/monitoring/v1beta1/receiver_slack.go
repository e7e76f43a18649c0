package v1beta1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// SlackConfig posts a message to Slack, with one attachment that has the alerts.
type SlackConfig struct {
	// Buttons below the attachment.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	// +optional
	Actions []SlackAction `json:"actions,omitempty"`

	// Secret key with the URL of the webhook, or of `chat.postMessage`; http or https with a host, blanks around
	// it are removed. Unset means the global one. A value that is no URL rejects the object, without being shown.
	//
	// +optional
	APIURL *SecretKeySelector `json:"apiURL,omitempty"`

	// ID that is sent back when a button is used; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	CallbackID string `json:"callbackId,omitempty"`

	// Channel (`#name` or its ID) or user (`@name`) to post to; it may be a template. Webhooks of newer apps
	// ignore it.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Channel string `json:"channel,omitempty"`

	// Color of the bar next to the attachment: `good`, `warning`, `danger` or `#rrggbb`; it may be a template.
	// Empty means `danger` while an alert fires, else `good`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Color string `json:"color,omitempty"`

	// Text where attachments cannot be shown; it may be a template. Empty means the template
	// `slack.default.fallback`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Fallback string `json:"fallback,omitempty"`

	// Table of names and values below the text.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	// +optional
	Fields []SlackField `json:"fields,omitempty"`

	// Small text at the end of the attachment; it may be a template. Empty means the template
	// `slack.default.footer`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Footer string `json:"footer,omitempty"`

	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Emoji to use as avatar, such as `:fire:`; it may be a template. It wins over `iconURL`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	IconEmoji string `json:"iconEmoji,omitempty"`

	// URL of an image to use as avatar; it may be a template.
	//
	// +optional
	IconURL *string `json:"iconURL,omitempty"`

	// URL of an image to show in the attachment; it may be a template.
	//
	// +optional
	ImageURL *string `json:"imageURL,omitempty"`

	// Whether names of users and channels in the text become links. Unset means false.
	//
	// +optional
	LinkNames *bool `json:"linkNames,omitempty"`

	// Text of the message above the attachment; it may be a template (since Alertmanager 0.31.0; an older one
	// rejects the object).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MessageText string `json:"messageText,omitempty"`

	// Parts of the attachment that Slack formats as mrkdwn. Empty means `fallback`, `pretext` and `text`.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	MrkdwnIn []string `json:"mrkdwnIn,omitempty"`

	// Text above the attachment; it may be a template. Empty means the template `slack.default.pretext`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Pretext string `json:"pretext,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means false.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Whether fields that do not say so themselves fit next to each other. Unset means false.
	//
	// +optional
	ShortFields *bool `json:"shortFields,omitempty"`

	// Text of the attachment; it may be a template. Empty means the template `slack.default.text`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// URL of a small image to show in the attachment; it may be a template.
	//
	// +optional
	ThumbURL *string `json:"thumbURL,omitempty"`

	// How long one request may take, such as `10s` (since Alertmanager 0.30.0; left out before). Empty means as
	// long as the interval of the group allows.
	//
	// +optional
	Timeout monitoringv1.Duration `json:"timeout,omitempty"`

	// Title of the attachment; it may be a template. Empty means the template `slack.default.title`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// URL the title links to; it may be a template. Unset means the template `slack.default.titlelink`.
	//
	// +optional
	TitleLink *string `json:"titleLink,omitempty"`

	// Whether a later notification of a group replaces the first (since Alertmanager 0.32.0; an older one rejects
	// the object). `apiURL` must be `https://slack.com/api/chat.postMessage` then. Unset means false.
	//
	// +optional
	UpdateMessage *bool `json:"updateMessage,omitempty"`

	// Name to show as the sender; it may be a template. Empty means the template `slack.default.username`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Username string `json:"username,omitempty"`
}

// SlackAction is a button. `url` or `name` is needed; one without both rejects the object.
type SlackAction struct {
	// Question before the action is sent.
	//
	// +optional
	Confirm *SlackConfirmationField `json:"confirm,omitempty"`

	// Name that is sent back with the callback.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Name string `json:"name,omitempty"`

	// Color of the button: `default`, `primary` (green) or `danger` (red); it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Style string `json:"style,omitempty"`

	// Text of the button; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Text string `json:"text"`

	// Type of the action: `button`, or what newer versions of Slack add.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Type string `json:"type"`

	// URL the button opens; it may be a template.
	//
	// +optional
	URL *string `json:"url,omitempty"`

	// Value that is sent back with the callback; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Value string `json:"value,omitempty"`
}

// SlackConfirmationField is a dialog that asks for confirmation.
type SlackConfirmationField struct {
	// Text of the button that cancels. Empty means Slack's default, `Cancel`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	DismissText string `json:"dismissText,omitempty"`

	// Text of the button that confirms. Empty means Slack's default, `Okay`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	OkText string `json:"okText,omitempty"`

	// Text of the question.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Text string `json:"text"`

	// Title of the question. Empty means Slack's default.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`
}

// SlackField is a row of the table below a message.
type SlackField struct {
	// Whether the row is short enough for two to fit next to each other. Unset leaves it to `shortFields`.
	//
	// +optional
	Short *bool `json:"short,omitempty"`

	// Name of the row; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Title string `json:"title"`

	// Value of the row; it may be a template and have several lines.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Value string `json:"value"`
}
