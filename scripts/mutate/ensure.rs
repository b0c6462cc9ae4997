/// Returns the error unless the condition holds or this check is switched off in the binary.
macro_rules! ensure {
    ($condition:expr, $error:expr $(,)?) => {
        if {
            static SWITCH: u64 =
                $crate::guard::mark(concat!(file!(), ":", line!(), ":", column!()));
            $crate::guard::is_on(&SWITCH)
        } && !($condition)
        {
            #[allow(unused_imports)]
            use $crate::errors::MarketplaceError::*;
            return Err($crate::guard::fail($error));
        }
    };
}

/// The switch of the check at `place`, "FILE:LINE:COLUMN": the bytes `MUT\0`, then the 32-bit FNV-1a of the text.
pub const fn mark(place: &str) -> u64 {
    let bytes = place.as_bytes();
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    0x4d55_5400_0000_0000 | hash as u64
}

/// True unless the switch was changed in the binary. The read is volatile, so the compiler cannot assume its value.
#[inline(always)]
pub fn is_on(switch: &'static u64) -> bool {
    // SAFETY: a reference to a static is aligned and valid for reads.
    unsafe { core::ptr::read_volatile(switch) != 0 }
}
