//! Enums whose variants each have one word: on the command line, in job files, in documents and in
//! the store.

/// Declares such an enum. Each variant is written and read as its word.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$about:meta])* $variant:ident = $word:tt,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$about])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All of them, in their order.
            pub const ALL: [$name; [$($word,)+].len()] = [$($name::$variant,)+];

            /// Its word.
            pub const fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

pub(crate) use words;

#[cfg(test)]
mod tests {
    use crate::base::units::Unit;

    #[test]
    fn a_word_is_written_as_it_is_read() {
        for unit in Unit::ALL {
            let text = format!("\"{unit}\"");
            assert_eq!(serde_json::to_string(&unit).unwrap(), text);
            assert_eq!(serde_json::from_str::<Unit>(&text).unwrap(), unit);
        }
    }
}
