package text

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The masks say of any piece of a text what docs/pii.md calls key-like.
func TestKeyLikeByMasks(t *testing.T) {
	long, mixed := regexp.MustCompile(`[A-Za-z0-9]{15}`), regexp.MustCompile(`[A-Za-z0-9]{8,}`)
	letter, digits := regexp.MustCompile(`[A-Za-z]`), regexp.MustCompile(`[0-9].*[0-9]`)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-zA-Z ]{0,70}([A-Za-z0-9]{0,17}[-._ ]?){1,8}`).Draw(t, "text") + "x"
		p := rapid.IntRange(0, len(s)-1).Draw(t, "start")
		e := rapid.IntRange(p, len(s)).Draw(t, "end")
		want := long.MatchString(s[p:e])
		for _, run := range mixed.FindAllString(s[p:e], -1) {
			want = want || letter.MatchString(run) && digits.MatchString(run)
		}
		var c classes
		c.classify([]byte(s))
		r := region{[]byte(s), c.blocks, 0, len(s)}
		require.Equal(t, want, r.keyLike(p, e))
	})
}

// A run of named values ends at a dot, which may itself be an anchor: the search must go
// on behind it.
func TestNamedValuesGoOnBehindDots(t *testing.T) {
	requireMasked(t, KindKey, []maskCase{
		{"token: abcdefgh12.ijklmnop34.x, secret=Ab3dEf6hIj9kLm2nOp5q", "token: abcdefgh12.ijklmnop34.x, secret=[API_KEY]"},
		{"secret=Ab3dEf6hIj9kLm2nOp5q.abc", "secret=[API_KEY].abc"},
	})
}

func TestKeyPrefixes(t *testing.T) {
	const tail = "Ab3dEf6hIj9kLm2nOp5q"
	for _, p := range keyPrefixes {
		rest := strings.Repeat(tail, 2)[:p.rest]
		requireMasked(t, KindKey, []maskCase{
			{p.text + rest, "[API_KEY]"},
			{"(" + p.text + rest + ")", "([API_KEY])"},
			{"https://x:" + p.text + rest + "@host/", "https://x:[API_KEY]@host/"},
			{"**" + p.text + rest + "-_.", "**[API_KEY]-_."},
			{"--" + p.text + rest, "--[API_KEY]"},
		})
		requireLeft(t, p.text+rest[1:], "x"+p.text+rest, "x-"+p.text+rest, "x_"+p.text+rest, "0"+p.text+rest,
			strings.ToUpper(p.text[:1])+p.text[1:]+strings.Repeat("ab-", 20))
	}
	requireMasked(t, KindKey, []maskCase{
		{"AKIAIOSFODNN7EXAMPLE", "[API_KEY]"},
		{"ASIAIOSFODNN7EXAMPLE,", "[API_KEY],"},
		{"AKIAIOSFODNN7EXAMPLE-x", "[API_KEY]-x"},
		{"sk-ant-api03-AAAAAAAAAAAAAAAA_BB", "[API_KEY]"},
		{"sk-proj-" + tail + "_" + tail, "[API_KEY]"},
		{"xoxb-123456789012-1234567890123-" + tail, "[API_KEY]"},
	})
	requireLeft(t, "AKIAIOSFODNN7EXAMPL", "AKIAIOSFODNN7EXAMPLE1", "AKIAIOSFODNN7EXAMPLe", "AKIAIOSFODNN7EXAMPLE_", "AKIA-IOSFODNN7EXAMPL")
}

// Names of classes and functions start like keys; their words give them away.
func TestKeysAreNotWords(t *testing.T) {
	requireLeft(t,
		"skateboarding-is-so-much-fun", "sk-learn-is-so-much-fun", "sk-toggleable__control sk-hidden--visually", "hf_hub_download_from_pretrained",
		"npm_config_registry_url_default", "pk_test_of_everything_we_know", "task-sk-abcdefghijklmnopqrst", "xai-explainable-machine-learning",
		"Bearer of good news and bad", "Bearer token-authentication-scheme", "bearer abcdefghijklmnopqrstuvwxyz", "Bearerabcdefghijklmnopqrstuvwxyz",
		"token: internationalization-and-localization", "secret = get_secret_from_the_vault", "access_key = makeAccessKey12345678(", "token = tokens12345678901234[0]",
		"primary_key: 3f2a9c4b5d6e7f8091a2b3c4d5e6f708", "monkey: 3f2a9c4b5d6e7f8091a2b3c4d5e6f708",
	)
}

// Hashes, identifiers and base64 are data unless something says they are keys.
func TestHashesAreNotKeys(t *testing.T) {
	requireLeft(t,
		"d41d8cd98f00b204e9800998ecf8427e", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "550e8400-e29b-41d4-a716-446655440000",
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
	)
}

func TestBearers(t *testing.T) {
	requireMasked(t, KindKey, []maskCase{
		{"Bearer abcdefghijklmnopqrstuvwxyz", "[API_KEY]"},
		{"Bearer aaaaaaaaaaaaaaaaaaaaaaaa.", "[API_KEY]."},
		{"Authorization: Bearer \t dGhpcy9pcythK3Rva2Vu/Zg==, next", "Authorization: [API_KEY], next"},
		{"Bearer 550e8400-e29b-41d4-a716-446655440000", "[API_KEY]"},
		{"Bearer foo/Bearer abcdefghijklmnopqrstuvwxyz", "Bearer foo/[API_KEY]"},
	})
	requireLeft(t, "Bearer short", "xBearer abcdefghijklmnopqrstuvwxyz", "Bearer abcdefghijklmnopqrstuvwxyzé", "Bearer\nabcdefghijklmnopqrstuvwxyz")
}

func TestDottedTokens(t *testing.T) {
	const head, body, sig = "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	requireMasked(t, KindKey, []maskCase{
		{head + "." + body + "." + sig, "[API_KEY]"},
		{"jwt=" + head + "." + body + "." + sig + ".", "jwt=[API_KEY]."},
		{head + "." + sig + "." + sig + "." + body + "." + sig, "[API_KEY]"},
		{head + "." + body + "." + sig + ".html", "[API_KEY].html"},
		{"SG.abcdefghijklmnopqrstuv.0123456789012345678901234567890123456789abc", "[API_KEY]"},
		{"ya29.a0AfH6SMBxyz_1234567890", "[API_KEY]"},
	})
	requireLeft(t, head+"."+body, head+"."+body+".short", head+".."+body+"."+sig, "x"+head+"."+body+"."+sig, "MSG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuv",
		head+"."+body+"."+sig+"é")
}

func TestNamedValues(t *testing.T) {
	const value = "a1b2c3d4e5f6a7b8c9d0"
	requireMasked(t, KindKey, []maskCase{
		{"api_key=" + value, "api_key=[API_KEY]"},
		{"X-API-Key: " + value, "X-API-Key: [API_KEY]"},
		{`"apiKey": "` + value + `",`, `"apiKey": "[API_KEY]",`},
		{"AWS_SECRET_ACCESS_KEY = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'", "AWS_SECRET_ACCESS_KEY = '[API_KEY]'"},
		{"client_secret := `" + value + "==`", "client_secret := `[API_KEY]`"},
		{"'token' => \"" + value + "\"", "'token' => \"[API_KEY]\""},
		{"Authorization: Basic dXNlcjpwYXNzd29yZDEyMzQ=", "Authorization: Basic [API_KEY]"},
		{"authorization: Token " + value, "authorization: Token [API_KEY]"},
		{"accountkey:" + value + ";token=" + value, "accountkey:[API_KEY];token=[API_KEY]"},
		// Signs that no name stands before, at the start and one behind the other.
		{"=token=" + value, "=token=[API_KEY]"},
		{"a==b::c token:" + value + " secret=" + value, "a==b::c token:[API_KEY] secret=[API_KEY]"},
	})
	requireLeft(t, "api_key="+value[:19], "api__key="+value, "api_key     ="+value, "api_key =     "+value, "api_key=="+value, "api_key= -"+value,
		"token: abcdefghijklmnopqrstuvwxyz", "token: 12345678901234567890", "token: abcdefghijklmnopqrstuvwxyz1", "TOKEN=ABCDEFGHIJKLMNOPQRSTUVWXYZ1", "token: abcdefghijklMNOPQRSTUVWXYZ", "tokens="+value, "api_key="+value+"é")
}

func TestKeyBlocks(t *testing.T) {
	const begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
	const body = "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\nMIIEowIBAAKCAQEA+/=\n"
	requireMasked(t, KindKey, []maskCase{
		{"x " + begin + body + end + " y", "x [API_KEY] y"},
		{"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----", "[API_KEY]"},
		{begin + body + begin + body + end, begin + body + "[API_KEY]"},
		{begin + body + end + begin + body + end, "[API_KEY][API_KEY]"},
	})
	requireLeft(t, begin+body, begin+"<"+end, begin+body+"-"+end, "-----BEGIN CERTIFICATE-----"+body+"-----END CERTIFICATE-----",
		"-----BEGIN rsa PRIVATE KEY-----"+body+end)
}

// TestPIIKeyBehindWall: what is a token behind a wall may not look like one before the
// wall is known.
func TestPIIKeyBehindWall(t *testing.T) {
	requireMasked(t, KindKey, []maskCase{
		{"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----sk-aaaaaaaaaaaaaaa", "[API_KEY][API_KEY]"},
		{"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----x-sk-aaaaaaaaaaaaaaa", "[API_KEY]x-sk-aaaaaaaaaaaaaaa"},
		{"Bearer aaaaaaaaaaaaaaaaaaaa=sk-aaaaaaaaaaaaaaa", "[API_KEY][API_KEY]"},
	})
}
