//! Which addresses may be called. Checked on the address before a request, and again on what
//! a name resolves to, so that a name cannot lead to where an address may not.

use evenkeel_domain::ProviderLocality;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use url::{Host, Url};

/// Names under which clouds serve a machine's credentials. They resolve to link-local
/// addresses, but behind a proxy it is the proxy that resolves them.
const METADATA_NAMES: [&str; 2] = ["metadata.google.internal", "metadata.goog"];

/// Metadata services outside the link-local range: Alibaba, Azure, and AWS and Google on IPv6.
const METADATA_V4: [Ipv4Addr; 2] = [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16)];
const METADATA_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

/// The way a request takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// To this machine without TLS.
    Loopback,
    /// To this machine with TLS.
    LoopbackTls,
    /// Anywhere else, with TLS.
    Remote,
}

/// Why an address may not be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Barred {
    /// It is not on this machine, where only this machine may answer.
    NotLocal,
    /// Nobody may call it.
    Forbidden(&'static str),
}

impl Barred {
    /// The rule, in English.
    pub(crate) fn rule(&self) -> &'static str {
        match self {
            Self::NotLocal => "the companion uses models on this machine only",
            Self::Forbidden(rule) => rule,
        }
    }
}

/// Where a provider's models run, from its base URL.
///
/// Local are `localhost`, 127.0.0.0/8 and ::1, and the engine's empty address. Everything else
/// is remote, an address that cannot be read too. A server on this machine may hand requests
/// on; that cannot be seen from here.
#[must_use]
pub fn locality(base_url: &str) -> ProviderLocality {
    if base_url.trim().is_empty() {
        return ProviderLocality::Local;
    }
    match parse(base_url) {
        Ok(url) if is_loopback(&url) => ProviderLocality::Local,
        _ => ProviderLocality::Remote,
    }
}

/// Reads an address as people type it: without a scheme it is `http` on this machine and
/// `https` elsewhere. The fragment is dropped.
pub(crate) fn parse(text: &str) -> Result<Url, url::ParseError> {
    let text = text.trim();
    let mut url = if text.contains("://") {
        Url::parse(text)?
    } else {
        let plain = Url::parse(&format!("http://{text}"))?;
        if is_loopback(&plain) { plain } else { Url::parse(&format!("https://{text}"))? }
    };
    url.set_fragment(None);
    Ok(url)
}

/// Whether the host is this machine by its name or number alone.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.strip_suffix('.').unwrap_or(name) == "localhost",
        Some(Host::Ipv4(ip)) => loopback_ip(ip.into()),
        Some(Host::Ipv6(ip)) => loopback_ip(ip.into()),
        None => false,
    }
}

/// Decides whether and how an address may be called.
pub(crate) fn check(url: &Url, local_only: bool) -> Result<Lane, Barred> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Barred::Forbidden("it carries a user name or password; enter the key in its own field"));
    }
    let tls = match url.scheme() {
        "https" => true,
        "http" => false,
        _ => return Err(Barred::Forbidden("only http and https are spoken")),
    };
    let barred = match url.host() {
        None => Some("it names no host"),
        Some(Host::Ipv4(ip)) => forbidden_ip(ip.into()),
        Some(Host::Ipv6(ip)) => forbidden_ip(ip.into()),
        Some(Host::Domain(name)) => {
            METADATA_NAMES.contains(&name.strip_suffix('.').unwrap_or(name)).then_some("it is a cloud's metadata service")
        }
    };
    match (barred, is_loopback(url)) {
        (Some(reason), _) => Err(Barred::Forbidden(reason)),
        (None, true) => Ok(if tls { Lane::LoopbackTls } else { Lane::Loopback }),
        (None, false) if local_only => Err(Barred::NotLocal),
        (None, false) if !tls => Err(Barred::Forbidden("beyond this machine only https is allowed")),
        (None, false) => Ok(Lane::Remote),
    }
}

/// The IPv4 address inside an IPv6 one: mapped, NAT64 (RFC 6052) or 6to4 (RFC 3056).
fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let part = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match ip.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            Some(part(high, low))
        }
        _ => None,
    }
}

fn loopback_ip(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
    }
}

/// Why an address is forbidden to everybody.
fn forbidden_ip(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => forbidden_v4(ip),
        IpAddr::V6(ip) if ip.is_unspecified() => Some("it is no address of a server"),
        IpAddr::V6(ip) if ip.is_multicast() => Some("it is no address of a single server"),
        IpAddr::V6(ip) if ip.is_unicast_link_local() => Some("it is a link-local address"),
        IpAddr::V6(ip) if METADATA_V6.contains(&ip) => Some("it is a cloud's metadata service"),
        IpAddr::V6(ip) => embedded(ip).and_then(forbidden_v4),
    }
}

fn forbidden_v4(ip: Ipv4Addr) -> Option<&'static str> {
    if ip.octets()[0] == 0 {
        Some("it is no address of a server")
    } else if ip.is_link_local() {
        Some("it is a link-local address")
    } else if METADATA_V4.contains(&ip) {
        Some("it is a cloud's metadata service")
    } else if ip.is_multicast() || ip.is_broadcast() {
        Some("it is no address of a single server")
    } else {
        None
    }
}

/// A name that leads to an address which may not be called.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ForbiddenName(pub &'static str);

/// Resolves names by the system and drops the addresses that may not be called.
pub(crate) struct GuardedResolver {
    /// Only loopback addresses are let through.
    pub loopback_only: bool,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let loopback_only = self.loopback_only;
        Box::pin(async move {
            let found: Vec<_> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let allowed = filter(found, loopback_only)?;
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Keeps the addresses that may be called; an error if there were some and none is left.
fn filter(found: Vec<SocketAddr>, loopback_only: bool) -> Result<Vec<SocketAddr>, ForbiddenName> {
    let mut refusal = None;
    let allowed: Vec<_> = found
        .into_iter()
        .filter(|address| {
            let reason = if loopback_only && !loopback_ip(address.ip()) {
                Some("its name leads away from this machine")
            } else {
                forbidden_ip(address.ip())
            };
            refusal = refusal.or(reason);
            reason.is_none()
        })
        .collect();
    match refusal {
        Some(reason) if allowed.is_empty() => Err(ForbiddenName(reason)),
        _ => Ok(allowed),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn verdict(url: &str) -> Result<Lane, Barred> {
        check(&parse(url).unwrap(), false)
    }

    #[test]
    fn this_machine_is_known_in_every_spelling() {
        for url in [
            "http://localhost:1234/v1",
            "http://LOCALHOST.",
            "localhost:11434",
            "127.0.0.1:8080",
            "http://127.9.9.9",
            "http://0x7f.1",
            "http://2130706433",
            "http://[::1]:8080",
            "http://[::ffff:127.0.0.1]",
        ] {
            assert_eq!(verdict(url), Ok(Lane::Loopback), "{url}");
            assert_eq!(locality(url), ProviderLocality::Local, "{url}");
        }
        assert_eq!(verdict("https://localhost:8443"), Ok(Lane::LoopbackTls));
    }

    #[test]
    fn names_that_only_look_like_this_machine_are_remote() {
        for url in ["https://localhost.example.com", "https://127.0.0.1.nip.io", "api.openai.com", "https://192.168.1.7"] {
            assert_eq!(verdict(url), Ok(Lane::Remote), "{url}");
            assert_eq!(locality(url), ProviderLocality::Remote, "{url}");
            assert_eq!(check(&parse(url).unwrap(), true), Err(Barred::NotLocal), "{url}");
        }
        assert_eq!(locality(""), ProviderLocality::Local);
        assert_eq!(locality("http://"), ProviderLocality::Remote);
    }

    #[test]
    fn forbidden_addresses_are_refused_in_every_spelling() {
        for url in [
            "http://example.com/v1",
            "http://192.168.1.7:11434",
            "https://169.254.169.254/latest",
            "https://[::ffff:169.254.169.254]",
            "https://[64:ff9b::a9fe:a9fe]",
            "https://[2002:a9fe:a9fe::1]",
            "https://0xa9fea9fe",
            "https://[fe80::1]",
            "https://[fd00:ec2::254]",
            "https://100.100.100.200",
            "https://metadata.google.internal.",
            "http://0.0.0.0:8080",
            "http://[::]:8080",
            "https://[ff02::1]",
            "https://255.255.255.255",
            "https://user:word@api.example.com",
            "http://key@localhost",
            "ftp://localhost",
            "file:///etc/passwd",
        ] {
            assert!(matches!(verdict(url), Err(Barred::Forbidden(_))), "{url}: {:?}", verdict(url));
        }
    }

    #[test]
    fn a_name_cannot_lead_to_a_forbidden_address() {
        let at = |text: &str| SocketAddr::new(text.parse().unwrap(), 0);
        let mixed = vec![at("169.254.169.254"), at("93.184.216.34")];
        assert_eq!(filter(mixed, false).unwrap(), [at("93.184.216.34")]);
        assert!(filter(vec![at("fe80::1")], false).is_err());
        assert!(filter(vec![at("93.184.216.34")], true).is_err());
        assert_eq!(filter(vec![at("::1"), at("10.0.0.1")], true).unwrap(), [at("::1")]);
        assert!(filter(Vec::new(), true).unwrap().is_empty());
    }
}
