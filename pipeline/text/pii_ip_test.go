package text

import "testing"

func TestIP4(t *testing.T) {
	requireMasked(t, KindIP, []maskCase{
		{"0.0.0.0 255.255.255.255", "[IP] [IP]"},
		{"http://10.0.0.1:80/", "http://[IP]:80/"},
		{"10.0.0.0/8 10.0.0.0/255.0.0.0", "[IP]/8 [IP]/[IP]"},
		{"10.0.0.1-10.0.0.9", "[IP]-[IP]"},
		{"10.0.0.1.", "[IP]."},
		{"10.0.0.1, (10.0.0.2) [10.0.0.3] \"10.0.0.4\" ip=10.0.0.5 root@10.0.0.6", "[IP], ([IP]) [[IP]] \"[IP]\" ip=[IP] root@[IP]"},
		{"the version is 10.0.0.1", "the version is [IP]"},
		{"conversion10 10.0.0.1 versions 10.0.0.2 version, 10.0.0.3", "conversion10 [IP] versions [IP] version, [IP]"},
		{"10.0.0.1-5", "[IP]-5"},
		{"//10.0.0.1 ?/10.0.0.2", "//[IP] ?/[IP]"},
	})
	requireLeft(t, "256.1.1.1", "1.256.1.1", "1.1.1.256", "999.9.9.9", "01.2.3.4", "1.2.3.04", "1.2.3.0004", "1.2.3", "1.2.3.4.5", "1.2.3.4.5.6.7.8", "0.1.2.3.4",
		"1..2.3.4", "a1.2.3.4", "1.2.3.4a", "1.2.3.4_", "2024.01.15.12", "1234.5678.9012.3456")
}

func TestVersionsAreNotAddresses(t *testing.T) {
	requireLeft(t,
		"v1.2.3.4 ok", "V1.2.3.4", "v 1.2.3.4", "v. 1.2.3.4", "version 1.2.3.4", "Version: 1.2.3.4", "VERSION=1.2.3.4", `"version": "1.2.3.4"`, "version='1.2.3.4'",
		"app_version: 1.2.3.4", "release 1.2.3.4", "Build 1.2.3.4", "rev. 1.2.3.4", "firmware  1.2.3.4", "section 1.2.3.4", "Chapter\t1.2.3.4", "Section\u00a01.2.3.4",
		"pkg==1.2.3.4", "pkg>=1.2.3.4", "pkg<=1.2.3.4", "pkg~=1.2.3.4", "pkg!=1.2.3.4",
		"openssl-1.0.2.1", "Chrome/120.0.0.0 Safari/120.0.0.0", "lib-1.2.3.4.tar.gz", "1.2.3.4.tar.gz", "1.2.3.4-beta", "1.2.3.4+build", "1.2.3.4~rc1",
	)
}

func TestIP6(t *testing.T) {
	requireMasked(t, KindIP, []maskCase{
		{"2001:0db8:85a3:0000:0000:8a2e:0370:7334", "[IP]"},
		{"2001:db8:85a3::8a2e:370:7334", "[IP]"},
		{"1:2:3:4:5:6:7:8 1:2:3:4:5:6:7:: ::2:3:4:5:6:7:8", "[IP] [IP] [IP]"},
		{"::1 fe80::1 FE80::1 fe80:: 2001:DB8::", "[IP] [IP] [IP] [IP] [IP]"},
		{"::ffff:1.2.3.4 ::1.2.3.4 64:ff9b::192.0.2.33 1:2:3:4:5:6:1.2.3.4", "[IP] [IP] [IP] [IP]"},
		{"fe80::1%eth0 2001:db8::/32 [2001:db8::1]:443", "[IP]%eth0 [IP]/32 [[IP]]:443"},
		{"from 2001:db8::1: unreachable. At fe80::1.", "from [IP]: unreachable. At [IP]."},
		{"addr:fe80::1 src=::1,", "addr:[IP] src=[IP],"},
		{"2001:db8::1-2001:db8::9", "[IP]-[IP]"},
		{"1.2.3.4:fe80::1", "[IP]:[IP]"},
		{"12345::1.2.3.4", "12345::[IP]"},
	})
	requireLeft(t, "::ffff:256.1.2.3", "::ffff:1.2.3.4.5", "::ffff:1.2.3.04", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7", "2001:db8:::1", "2001::db8::1", "12345::1", "fe80::12345",
		"1:2:3:4:5:6:7:8::", "fe80::1g", "xfe80::1", "fe80::1.5", "fe80:", ":", "::", "::::", "7.fe80::1")
}

// Clocks, hardware addresses and code are full of colons.
func TestColonsAreNotAddresses(t *testing.T) {
	requireLeft(t, "12:30:45", "2024-01-01T12:00:00", "2024-01-01 12:00:00+00:00", "00:01:02:03", "aa:bb:cc:dd:ee:ff", "00:11:22:33:44:55", "00:11:22:33:44:55:66:77",
		"std::string", "a::b", "::b", "A::B::C", "Face::Bead", "a:b:c:d:e:f:a:b", "dead::beef", "x[::2]", "x[1::3]", "x[10::5]", "::2", "100::1", "crate::a1::b2", "C::", "::f", "1:1", "16:9:4")
}
