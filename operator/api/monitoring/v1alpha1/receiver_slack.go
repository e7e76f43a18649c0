package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// SlackConfig sends messages to Slack.
type SlackConfig struct {
	// Buttons below the message.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	// +optional
	Actions []SlackAction `json:"actions,omitempty"`

	// Secret key with the URL of the webhook. Unset means the global one.
	//
	// +optional
	APIURL *corev1.SecretKeySelector `json:"apiURL,omitempty"`

	// ID that is sent back when a button is used.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	CallbackID string `json:"callbackId,omitempty"`

	// Channel or user to send to.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Channel string `json:"channel,omitempty"`

	// Color of the bar next to the message.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Color string `json:"color,omitempty"`

	// Text where attachments cannot be shown.
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

	// Text at the end of the message.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Footer string `json:"footer,omitempty"`

	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// Emoji to use as avatar.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	IconEmoji string `json:"iconEmoji,omitempty"`

	// URL of an image to use as avatar.
	//
	// +optional
	IconURL *string `json:"iconURL,omitempty"`

	// URL of an image to show.
	//
	// +optional
	ImageURL *string `json:"imageURL,omitempty"`

	// Whether names of users and channels in the text become links.
	//
	// +optional
	LinkNames *bool `json:"linkNames,omitempty"`

	// Text outside the attachment (since Alertmanager 0.31.0; an error before).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MessageText string `json:"messageText,omitempty"`

	// Fields that are formatted as mrkdwn.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	MrkdwnIn []string `json:"mrkdwnIn,omitempty"`

	// Text above the attachment.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Pretext string `json:"pretext,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means the default of the receiver.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Whether fields are short unless they say otherwise.
	//
	// +optional
	ShortFields *bool `json:"shortFields,omitempty"`

	// Text of the notification.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// URL of a small image to show.
	//
	// +optional
	ThumbURL *string `json:"thumbURL,omitempty"`

	// How long sending may take (since Alertmanager 0.30.0).
	//
	// +optional
	Timeout monitoringv1.Duration `json:"timeout,omitempty"`

	// Title of the notification.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// URL the title links to.
	//
	// +optional
	TitleLink *string `json:"titleLink,omitempty"`

	// Whether a later notification of a group replaces the first (since Alertmanager 0.32.0; an error before).
	// It needs the URL of chat.postMessage.
	//
	// +optional
	UpdateMessage *bool `json:"updateMessage,omitempty"`

	// User name to show.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Username string `json:"username,omitempty"`
}

// SlackAction is a button; `url` or `name` is needed.
type SlackAction struct {
	// Dialog before the action is sent.
	//
	// +optional
	Confirm *SlackConfirmationField `json:"confirm,omitempty"`

	// Name that is sent back.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Name string `json:"name,omitempty"`

	// Color of the button: `default`, `primary` or `danger`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Style string `json:"style,omitempty"`

	// Text of the button.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Text string `json:"text"`

	// Type of the action, usually `button`.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Type string `json:"type"`

	// URL the button opens.
	//
	// +optional
	URL *string `json:"url,omitempty"`

	// Value that is sent back.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Value string `json:"value,omitempty"`
}

// SlackConfirmationField is a dialog that asks for confirmation.
type SlackConfirmationField struct {
	// Text of the button that cancels.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	DismissText string `json:"dismissText,omitempty"`

	// Text of the button that confirms.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	OkText string `json:"okText,omitempty"`

	// Text of the dialog.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Text string `json:"text"`

	// Title of the dialog.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`
}

// SlackField is a row of the table below a message.
type SlackField struct {
	// Whether two such fields fit next to each other.
	//
	// +optional
	Short *bool `json:"short,omitempty"`

	// Name.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Title string `json:"title"`

	// Value.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Value string `json:"value"`
}
