//lint:file-ignore SA1019 the suite asks for features that the protocol is giving up

package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Revision 2026-07-28 has no requests from the server. Instead a result contains questions,
// and the client repeats the call with the answers. The state of the server is part of
// both, sealed.

// questions are the questions of tools, for each round.
var questions = map[string][]sdk.InputRequestMap{
	"test_input_required_result_elicitation":     {{"user_name": elicit("name", "string")}},
	"test_input_required_result_sampling":        {{"capital_question": sampling}},
	"test_input_required_result_list_roots":      {{"client_roots": &sdk.ListRootsParams{}}},
	"test_input_required_result_request_state":   {{"confirm": elicit("ok", "boolean")}},
	"test_input_required_result_tampered_state":  {{"confirm": elicit("ok", "boolean")}},
	"test_input_required_result_multiple_inputs": {everyKind},
	"test_input_required_result_capabilities":    {everyKind},
	"test_input_required_result_multi_round":     {{"step1": elicit("name", "string")}, {"step2": elicit("color", "string")}},
	"test_streaming_elicitation":                 {{"user_name": elicit("name", "string")}},
}

var (
	sampling  = &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: say("What is the capital of France?")}}}
	everyKind = sdk.InputRequestMap{"user_name": elicit("name", "string"), "greeting": sampling, "client_roots": &sdk.ListRootsParams{}}
)

func elicit(field, kind string) *sdk.ElicitParams {
	schema := `{"type":"object","properties":{"` + field + `":{"type":"` + kind + `"}},"required":["` + field + `"]}`
	return &sdk.ElicitParams{Message: "Your " + field + "?", RequestedSchema: json.RawMessage(schema)}
}

// asking returns a tool that asks its questions round by round and then confirms the state.
func asking(rounds []sdk.InputRequestMap) sdk.ToolHandler {
	return func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		ask, state, err := next(rounds, req.ClientCapabilities(), req.Params.InputResponses, req.Params.RequestState)
		if err != nil || ask != nil {
			return &sdk.CallToolResult{InputRequests: ask, RequestState: state}, err
		}
		return toolResult("state-ok"), nil
	}
}

func askingPrompt(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	rounds := []sdk.InputRequestMap{{"user_context": elicit("context", "string")}}
	ask, state, err := next(rounds, req.ClientCapabilities(), req.Params.InputResponses, req.Params.RequestState)
	if err != nil || ask != nil {
		return &sdk.GetPromptResult{InputRequests: ask, RequestState: state}, err
	}
	return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: say("With context.")}}}, nil
}

// next returns the questions of the next round and its state; nothing after the last round.
func next(rounds []sdk.InputRequestMap, c *sdk.ClientCapabilities, answers sdk.InputResponseMap, state string) (sdk.InputRequestMap, string, error) {
	round, ok := unseal(state)
	if !ok || round >= len(rounds) {
		return nil, "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the state is not of this server"}
	}
	if answered(possible(rounds[round], c), answers) {
		round++
	}
	if round == len(rounds) {
		return nil, "", nil
	}
	return possible(rounds[round], c), seal(round), nil
}

// possible omits questions for which the client has not declared a capability.
func possible(asked sdk.InputRequestMap, c *sdk.ClientCapabilities) sdk.InputRequestMap {
	out := sdk.InputRequestMap{}
	for key, request := range asked {
		var can bool
		switch request.(type) {
		case *sdk.ElicitParams:
			can = c.Elicitation != nil
		case *sdk.CreateMessageParams:
			can = c.Sampling != nil
		case *sdk.ListRootsParams:
			can = c.RootsV2 != nil
		}
		if can {
			out[key] = request
		}
	}
	return out
}

// answered reports whether every question has an answer of its kind.
func answered(asked sdk.InputRequestMap, answers sdk.InputResponseMap) bool {
	for key, request := range asked {
		var ok bool
		switch request.(type) {
		case *sdk.ElicitParams:
			answer, is := answers[key].(*sdk.ElicitResult)
			ok = is && answer.Action == "accept"
		case *sdk.CreateMessageParams:
			_, ok = answers[key].(*sdk.CreateMessageWithToolsResult)
		case *sdk.ListRootsParams:
			_, ok = answers[key].(*sdk.ListRootsResult)
		}
		if !ok {
			return false
		}
	}
	return true
}

var sealKey = rand.Text()

// seal encodes a round with a signature of this server.
func seal(round int) string {
	mac := hmac.New(sha256.New, []byte(sealKey))
	text := strconv.Itoa(round)
	mac.Write([]byte(text))
	return text + "." + hex.EncodeToString(mac.Sum(nil))
}

// unseal decodes a round. An empty state is the first round.
func unseal(state string) (round int, ok bool) {
	if state == "" {
		return 0, true
	}
	text, _, _ := strings.Cut(state, ".")
	round, err := strconv.Atoi(text)
	return round, err == nil && hmac.Equal([]byte(seal(round)), []byte(state))
}
