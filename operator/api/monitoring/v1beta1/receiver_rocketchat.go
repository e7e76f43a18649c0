package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
)

// RocketChatConfig sends messages to Rocket.Chat.
type RocketChatConfig struct {
	// Buttons below the message.
	//
	// +kubebuilder:validation:MinItems=1
	// +optional
	Actions []RocketChatActionConfig `json:"actions,omitempty"`

	// URL of the API. Empty means the global one.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

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

	// Emoji to use as avatar.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Emoji string `json:"emoji,omitempty"`

	// Table of names and values below the text.
	//
	// +kubebuilder:validation:MinItems=1
	// +optional
	Fields []RocketChatFieldConfig `json:"fields,omitempty"`

	// Settings of the HTTP client.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

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

	// Title of the notification.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// URL the title links to.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TitleLink string `json:"titleLink,omitempty"`

	// Secret key with the token of the sender.
	//
	// +required
	Token corev1.SecretKeySelector `json:"token"`

	// Secret key with the ID of the token.
	//
	// +required
	TokenID corev1.SecretKeySelector `json:"tokenID"`
}

// RocketChatActionConfig is a button below a message.
type RocketChatActionConfig struct {
	// Message that is sent when the button is used.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Msg string `json:"msg,omitempty"`

	// Text of the button.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// URL the button opens.
	//
	// +optional
	URL *string `json:"url,omitempty"`
}

// RocketChatFieldConfig is a row of the table below a message.
type RocketChatFieldConfig struct {
	// Whether two such fields fit next to each other.
	//
	// +optional
	Short *bool `json:"short,omitempty"`

	// Name.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// Value.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Value string `json:"value,omitempty"`
}
